// SPDX-License-Identifier: Apache-2.0
#include "device/host_gpus.hpp"

#include "device/gpu/arena.hpp"
#include "device/gpu/launch.cuh"
#include "device/gpu/queue_gpu.hpp"

namespace parhelion {

namespace {

bool reaches(int from, int to)
{
    int can = 0;
    gpu_check(gpu_api::can_access(&can, from, to), "access among GPUs");
    return can != 0 && gpu_link(from, to).has_access;
}

HostGpu describe(int device)
{
    HostGpu gpu;
    gpu_api::GpuProperties properties;
    gpu_check(gpu_api::get_properties(properties, device), "properties of a GPU");
    gpu.device = device;
    gpu.name = properties.name;
    gpu.major = properties.major, gpu.minor = properties.minor;
    gpu.has_code = gpu_api::runs_code(properties, PARHELION_GPU_CODE);
    gpu.is_allowed = properties.is_allowed;
    gpu.makes_shared_memory = makes_shared_memory(device);
    gpu.memory = properties.memory;
    gpu.multiprocessors = properties.multiprocessors;
    gpu.clock_ghz = properties.clock_ghz;
    return gpu;
}

HostGpus describe_all()
{
    HostGpus host;
    const int count = gpu_count();
    for (int device = 0; device < count; ++device)
    {
        host.gpus.push_back(describe(device));
        std::vector<bool>& row = host.reach.emplace_back();
        for (int other = 0; other < count; ++other) { row.push_back(device == other || reaches(device, other)); }
    }
    return host;
}

} // namespace

const HostGpus& find_gpus()
{
    static const HostGpus host = describe_all();
    return host;
}

} // namespace parhelion
