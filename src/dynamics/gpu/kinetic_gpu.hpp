// SPDX-License-Identifier: Apache-2.0
// Sums over velocities on the GPU, and what is done to all velocities alike: kinetic energy, motion of the centre of mass,
// scaling. Needed in few steps, so each is a kernel of its own. Cost: one pass over the velocities each, a few us at 100 000
// atoms.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "dynamics/com.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

inline constexpr int kinetic_elements = 6; // xx, yy, zz, xy, xz, yz of 1/2 sum m v (x) v

// sums[group][kinetic_elements] += the kinetic energies of the state's motion groups, kJ/mol.
template <class N>
void add_kinetic(GpuQueue& queue, const GpuState<N>& state, int groups, ScalarSum<N>* sums);

// Groups for the removal of centre-of-mass motion, on the device.
struct GpuComGroups
{
    // mobility: empty where nothing is frozen.
    GpuComGroups(GpuQueue& queue, const ComGroups& com, const Mobility& mobility = {}, ComMode mode = ComMode::Linear);
    int count;
    ComMode mode;
    DeviceBuffer<std::uint8_t> of_atom; // as AtomGroups
    // Empty where nothing is frozen.
    DeviceBuffer<Vec3<double>> frozen, mobility; // as ComGroups; by motion group
};

// sums[group][com_sum_count(mode)] += the sums of each group (com_body.hpp).
template <class N>
void add_com_motion(GpuQueue& queue, const GpuComGroups& groups, const GpuState<N>& state, ScalarSum<N>* sums);
// Takes each group's motion, by these sums, from that of its atoms.
template <class N>
void subtract_com_motion(GpuQueue& queue, const GpuComGroups& groups, const ScalarSum<N>* sums, GpuState<N>& state);

// Takes atoms back to where they were, along the axes along which they are frozen, when the box was *before. mobility: by motion
// group.
template <class N>
void hold_frozen(GpuQueue& queue, const DeviceBuffer<Vec3<double>>& mobility, const Box<double>* before, GpuState<N>& state);

// Multiplies every velocity by *factor, component by component, in device memory.
template <class N>
void scale_velocities(GpuQueue& queue, const Vec3<double>* factor, GpuState<N>& state);

} // namespace parhelion
