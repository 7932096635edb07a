// SPDX-License-Identifier: Apache-2.0
// The buffers in which the threads of a queue add up forces, and the sum over threads. Each thread has an array of its own, so
// no two threads write one word. Cost: threads * slots * 3 words of memory traffic per step; cheap up to some dozen threads.
#pragma once

#include "device/cpu_queue.hpp"
#include "model/energy_terms.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

// The results that a force evaluation must produce.
enum class Compute : std::uint8_t
{
    Forces,
    ForcesEnergiesVirial
};

template <class N>
struct ForceBuffers
{
    std::vector<ClusterArray<typename N::ForceSum>> forces; // [thread], slots()
    ClusterArray<typename N::ForceSum> halo;                // sum over threads of forces on halo atoms, which go to their owners
    std::vector<EnergySums<N>> energies;                    // [thread]; used with Compute::ForcesEnergiesVirial only
};

// Makes the buffers large enough for the queue's team of threads, and sets all forces and energies in them to zero.
template <class N>
void clear_forces(CpuQueue& queue, ForceBuffers<N>& buffers, std::size_t slots);

// Sums forces over threads, in thread order: on home atoms into state.f, on halo atoms into buffers.halo.
template <class N>
void sum_forces(CpuQueue& queue, ForceBuffers<N>& buffers, ParticleState<N>& state);

// Returns this rank's part of energies and virial, summed over threads in thread
// order. += adds parts of other ranks, and result() converts the total to numbers.
template <class N>
EnergySums<N> sum_energies(const ForceBuffers<N>& buffers);

} // namespace parhelion
