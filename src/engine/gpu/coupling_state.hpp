// SPDX-License-Identifier: Apache-2.0
// Coupling (engine/coupling.hpp) in the memory of a GPU. Each rank and each snapshot has one.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "engine/coupling.hpp"

namespace parhelion {

// The arrays of a GpuCouplingState, for kernels.
struct CouplingView
{
    SystemCoupling* system;
    ThermostatState* thermostat;
    Mat3<double>* half_step;
    int groups;
};

struct GpuCouplingState
{
    DeviceBuffer<SystemCoupling> system;      // has one element
    DeviceBuffer<ThermostatState> thermostat; // indexed by temperature group, like half_step
    DeviceBuffer<Mat3<double>> half_step;

    void resize(std::size_t groups) { system.resize(1), thermostat.resize(groups), half_step.resize(groups); }
    void clear(GpuQueue& queue) { system.clear(queue), thermostat.clear(queue), half_step.clear(queue); }
    CouplingView view() { return {system.data(), thermostat.data(), half_step.data(), static_cast<int>(thermostat.size())}; }

    // These functions wait for the GPU.
    void upload(GpuQueue& queue, const Coupling& from)
    {
        const SystemCoupling& whole = from;
        system.upload(queue, {&whole, 1});
        thermostat.upload(queue, from.thermostat);
        half_step.upload(queue, from.half_step.group);
        queue.synchronize();
    }
    Coupling download(GpuQueue& queue) const
    {
        return {system.to_vector(queue)[0], thermostat.to_vector(queue), {half_step.to_vector(queue)}};
    }
};

} // namespace parhelion
