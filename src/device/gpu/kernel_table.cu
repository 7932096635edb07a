// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/kernel_table.hpp"

#include "device/gpu/launch.cuh"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace parhelion {

namespace {

struct Launched
{
    const void* function;
    PhaseTag phase;
    LaunchShape shape;
};

// The table has a mutex because each rank launches kernels from its own thread.
struct Table
{
    std::mutex mutex;
    std::vector<Launched> kernels;
};
Table& table()
{
    static Table the_table;
    return the_table;
}

LaunchedKernel describe(const Launched& launched)
{
    const LaunchShape& shape = launched.shape;
    cudaFuncAttributes attributes;
    cuda_check(cudaFuncGetAttributes(&attributes, launched.function), "cudaFuncGetAttributes");
    int device = 0, warps = 0, blocks = 0;
    cuda_check(cudaGetDevice(&device), "cudaGetDevice");
    cuda_check(cudaDeviceGetAttribute(&warps, cudaDevAttrMaxThreadsPerMultiProcessor, device), "cudaDeviceGetAttribute");
    warps /= 32;
    cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launched.function, shape.threads, shape.shared_bytes),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    LaunchedKernel kernel;
    kernel.name = kernel_name(launched.function);
    kernel.phase = launched.phase;
    kernel.blocks = shape.blocks * shape.blocks_y, kernel.threads = shape.threads;
    kernel.shared_bytes = attributes.sharedSizeBytes + shape.shared_bytes;
    kernel.registers = attributes.numRegs;
    kernel.spilled_bytes = attributes.localSizeBytes;
    kernel.occupancy = static_cast<double>(blocks * ((shape.threads + 31) / 32)) / warps;
    return kernel;
}

} // namespace

// Returns "update_kernel" for "void parhelion::(anonymous namespace)::update_kernel<…>(…)".
std::string kernel_name(const void* function)
{
    const char* symbol = nullptr;
    if (cudaFuncGetName(&symbol, function) != cudaSuccess) // fails after an earlier GPU error, which is then reported
    {
        cudaGetLastError();
        return "a kernel";
    }
    const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr), std::free);
    std::string name = readable ? readable.get() : symbol;
    const std::string_view unnamed = "(anonymous namespace)::";
    if (const std::size_t at = name.find(unnamed); at != std::string::npos) { name.erase(at, unnamed.size()); }
    name.resize(std::min(name.find_first_of("<("), name.size()));
    return name.substr(name.find_last_of(": ") + 1); // find_last_of() may return npos, and npos + 1 is 0
}

void raise_shared_memory_limit(const GpuQueue& queue, const void* kernel, std::size_t bytes)
{
    static std::mutex mutex;
    static std::map<std::pair<int, const void*>, std::size_t> limits; // by GPU and kernel
    const std::lock_guard lock(mutex);
    std::size_t& limit = limits[{queue.device(), kernel}];
    if (bytes <= limit) { return; }
    queue.make_current();
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               "shared memory of a kernel");
    limit = bytes;
}

std::uint16_t note_launch(const void* function, PhaseTag phase, LaunchShape shape)
{
    Table& t = table();
    const std::lock_guard lock(t.mutex);
    auto at = std::find_if(t.kernels.begin(), t.kernels.end(), [&](const Launched& k) { return k.function == function; });
    if (at == t.kernels.end()) { at = t.kernels.insert(at, {function, phase, shape}); }
    at->shape = shape;
    return static_cast<std::uint16_t>(at - t.kernels.begin());
}

std::vector<LaunchedKernel> launched_kernels()
{
    Table& t = table();
    const std::lock_guard lock(t.mutex);
    std::vector<LaunchedKernel> kernels;
    for (const Launched& launched : t.kernels) { kernels.push_back(describe(launched)); }
    return kernels;
}

} // namespace parhelion
