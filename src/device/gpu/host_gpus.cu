// SPDX-License-Identifier: Apache-2.0
#include "device/host_gpus.hpp"

#include "device/gpu/arena.hpp"
#include "device/gpu/launch.cuh"
#include "device/gpu/queue_gpu.hpp"

namespace parhelion {

namespace {

int attribute(cudaDeviceAttr which, int device)
{
    int value = 0;
    cuda_check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

bool reaches(int from, int to)
{
    int can = 0;
    cuda_check(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
    return can != 0 && gpu_link(from, to).has_access;
}

HostGpu describe(int device)
{
    HostGpu gpu;
    cudaDeviceProp properties;
    cuda_check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    gpu.device = device;
    gpu.name = properties.name;
    gpu.major = properties.major, gpu.minor = properties.minor;
    gpu.has_code = runs_code_for(PARHELION_GPU_CODE, gpu.major, gpu.minor);
    gpu.is_allowed = attribute(cudaDevAttrComputeMode, device) != cudaComputeModeProhibited;
    gpu.makes_shared_memory = makes_shared_memory(device);
    gpu.memory = properties.totalGlobalMem;
    gpu.multiprocessors = properties.multiProcessorCount;
    gpu.clock_ghz = 1e-6 * attribute(cudaDevAttrClockRate, device);
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
