// SPDX-License-Identifier: Apache-2.0
// A run's state on the GPU in input order: set aside at the beginning of every segment and put back after a failure; frames and
// checkpoints are read from it.
//
// It is in input order, as exchange buffers are (state/gpu/exchange_buffer.hpp), since its readers want that order. If a flag is
// up, the older snapshot is left as it is: what was computed since must not be kept. Cost: 56 bytes an atom, after a publication.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "engine/gpu/coupling_gpu.hpp"
#include "state/gpu/exchange_buffer.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

template <class N>
struct GpuSnapshot
{
    using Fixed = typename N::Fixed;
    using Real = typename N::Real;
    DeviceBuffer<Vec3<Fixed>> x; // by global atom
    DeviceBuffer<Vec3<Real>> v;
    DeviceBuffer<DeviceScalars> scalars;  // one
    DeviceBuffer<CouplingState> coupling; // one
    DeviceBuffer<CouplingGroup> groups;

    void resize(GpuQueue& queue, std::size_t atoms, std::size_t coupling_groups);
};

// The published exchange buffer and the coupling of one rank, whose GPU holds the snapshot. Keeps the older snapshot if
// state.scalars holds a flag. The step is that of state.scalars.
template <class N>
void keep(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer, GpuState<N>& state, GpuCoupling<N>& coupling,
          GpuSnapshot<N>& snapshot);
// The opposite: atoms to the exchange buffers of all ranks, from which they are taken; coupling to each rank, whose flags are
// lowered, and forces and energies cleared.
template <class N>
void put_back_atoms(GpuQueue& queue, const GpuSnapshot<N>& snapshot, const DeviceBuffer<GpuExchangeBuffer<N>>& exchange_buffers);
template <class N>
void put_back_coupling(GpuQueue& queue, const GpuSnapshot<N>& snapshot, GpuState<N>& state, GpuCoupling<N>& coupling);

// The forces on home atoms by global atom.
template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, Vec3<typename N::ForceSum>* f);

// state.scalars.step += steps.
template <class N>
void advance_step(GpuQueue& queue, std::int64_t steps, GpuState<N>& state);

} // namespace parhelion
