// SPDX-License-Identifier: Apache-2.0
// Constant accelerations of groups on a GPU. Cost: one kernel and 33 bytes an atom, in runs with accelerations.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/field/acceleration.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

struct GpuAcceleration
{
    GpuAcceleration(GpuQueue& queue, const GroupAcceleration& acceleration); // uploads `acceleration` and waits
    DeviceBuffer<std::uint8_t> group_of_atom;
    DeviceBuffer<Vec3<double>> of_group; // empty if no group is accelerated
};

// Adds the forces of the acceleration on home atoms to state.f.
template <class N>
void add_acceleration(GpuQueue& queue, const GpuAcceleration& acceleration, GpuState<N>& state);

} // namespace parhelion
