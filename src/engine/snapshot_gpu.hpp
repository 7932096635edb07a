// SPDX-License-Identifier: Apache-2.0
// A run's state on the GPU in input order: set aside at every repartition, put back after an overflow, and what frames and
// checkpoints are read from.
//
// Input order, because slots change with every repartition and whoever reads it wants input order anyway. A snapshot leaves an
// older one alone if a flag is up: what was computed since is not to be kept. Cost: 48 bytes an atom and a scattered store.
#pragma once

#include "device/device_buffer.hpp"
#include "engine/coupling_gpu.hpp"
#include "state/gpu_state.hpp"

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

// Keeps the older snapshot if state.scalars holds a flag. The step is that of state.scalars.
template <class N>
void take_snapshot(GpuQueue& queue, GpuState<N>& state, GpuCoupling<N>& coupling, GpuSnapshot<N>& snapshot);
// Flags are lowered, forces and energies cleared. Fillers keep what they have until the next reorder().
template <class N>
void put_back(GpuQueue& queue, const GpuSnapshot<N>& snapshot, GpuState<N>& state, GpuCoupling<N>& coupling);

// state.f by global atom.
template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, DeviceBuffer<Vec3<typename N::ForceSum>>& f);

// state.scalars.step += steps.
template <class N>
void advance_step(GpuQueue& queue, std::int64_t steps, GpuState<N>& state);

} // namespace parhelion
