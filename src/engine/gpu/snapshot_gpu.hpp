// SPDX-License-Identifier: Apache-2.0
// A snapshot of a run's state on the GPU, in input order. It is taken at the beginning of
// every segment and restored after a failure. Frames and checkpoints are read from it.
//
// Input order is the order of exchange buffers, too (state/gpu/exchange_buffer.hpp), and that of its readers. If a flag is
// raised, the older snapshot stays, because states after a failure must not be kept. Cost: 56 bytes an atom, after publish().
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
    DeviceBuffer<Vec3<Fixed>> x; // indexed by global atom
    DeviceBuffer<Vec3<Real>> v;
    DeviceBuffer<DeviceScalars> scalars; // has one element
    GpuCouplingState coupling;

    void resize(GpuQueue& queue, std::size_t atoms, std::size_t coupling_groups);
};

// Queues a snapshot of the published exchange buffer and of the coupling of one rank. That rank's GPU has the snapshot.
// If state.scalars has a raised flag, the older snapshot stays. The snapshot's step is the step in state.scalars.
template <class N>
void keep(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer, GpuState<N>& state, GpuCoupling<N>& coupling,
          GpuSnapshot<N>& snapshot);
// These functions queue the restoring of a snapshot. Atoms go to the exchange buffers of all ranks,
// which take them from there. The coupling goes to each rank, whose flags, forces and energies are cleared.
template <class N>
void put_back_atoms(GpuQueue& queue, const GpuSnapshot<N>& snapshot, const DeviceBuffer<GpuExchangeBuffer<N>>& exchange_buffers);
// This one puts the atoms into the slots that they have now. Precondition: all atoms are home atoms of this rank.
template <class N>
void put_back_atoms_in_place(GpuQueue& queue, const GpuSnapshot<N>& snapshot, GpuState<N>& state);
template <class N>
void put_back_coupling(GpuQueue& queue, const GpuSnapshot<N>& snapshot, GpuState<N>& state, GpuCoupling<N>& coupling);

// Queues a kernel that writes the forces on home atoms to f, indexed by global atom.
template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, Vec3<typename N::ForceSum>* f);

// Queues a kernel that adds `steps` to state.scalars.step.
template <class N>
void advance_step(GpuQueue& queue, std::int64_t steps, GpuState<N>& state);

} // namespace parhelion
