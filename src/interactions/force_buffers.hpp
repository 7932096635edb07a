// SPDX-License-Identifier: Apache-2.0
// Where the threads of a queue add their forces: one array per thread, so that no two threads write one word, and the sum over
// them. Cost: threads * slots * 3 words of memory traffic per step; cheap up to a few dozen threads.
#pragma once

#include "device/cpu_queue.hpp"
#include "model/energy_terms.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

// What a force evaluation must produce.
enum class Compute : std::uint8_t
{
    Forces,
    ForcesEnergiesVirial
};

template <class N>
struct ForceBuffers
{
    std::vector<ClusterArray<typename N::ForceSum>> forces; // [thread], slots()
    ClusterArray<typename N::ForceSum> halo;                // their sum on halo atoms, which their owners wait for
    std::vector<EnergySums<N>> energies;                    // [thread]; filled with Compute::ForcesEnergiesVirial only
};

// Sizes the buffers for the queue's team and sets everything to zero.
template <class N>
void clear_forces(CpuQueue& queue, ForceBuffers<N>& buffers, std::size_t slots);

// Sums over threads, in thread order: on home atoms into state.f, on halo atoms into buffers.halo.
template <class N>
void sum_forces(CpuQueue& queue, ForceBuffers<N>& buffers, ParticleState<N>& state);

// Sum over threads, in thread order: this rank's part of the energies and the virial. Parts of ranks add up by +=; result() makes
// numbers of the total.
template <class N>
EnergySums<N> sum_energies(const ForceBuffers<N>& buffers);

} // namespace parhelion
