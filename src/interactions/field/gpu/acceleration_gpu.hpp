// SPDX-License-Identifier: Apache-2.0
// The forces of constant accelerations of groups on a GPU: a kernel of its own, in runs that have some. Cost: 33 bytes an atom.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/field/acceleration.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

struct GpuAcceleration
{
    GpuAcceleration(GpuQueue& queue, const GroupAcceleration& acceleration); // waits
    DeviceBuffer<std::uint8_t> group_of_atom;
    DeviceBuffer<Vec3<double>> of_group; // empty: there are none
};

// Adds the forces on home atoms.
template <class N>
void add_acceleration(GpuQueue& queue, const GpuAcceleration& acceleration, GpuState<N>& state);

} // namespace parhelion
