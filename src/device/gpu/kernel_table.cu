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
    gpu_api::KernelProperties properties;
    gpu_check(gpu_api::get_kernel_properties(properties, launched.function), "properties of a kernel");
    int device = 0, blocks = 0;
    gpu_check(gpu_api::get_current(&device), "the current GPU");
    gpu_api::GpuProperties gpu;
    gpu_check(gpu_api::get_properties(gpu, device), "properties of a GPU");
    gpu_check(gpu_api::get_resident_blocks(blocks, launched.function, shape.threads, shape.shared_bytes),
              "occupancy of a kernel");
    const int warps = gpu.threads_of_multiprocessor / 32;
    LaunchedKernel kernel;
    kernel.name = kernel_name(launched.function);
    kernel.phase = launched.phase;
    kernel.blocks = shape.blocks * shape.blocks_y, kernel.threads = shape.threads;
    kernel.shared_bytes = properties.shared_bytes + shape.shared_bytes;
    kernel.registers = properties.registers;
    kernel.spilled_bytes = properties.local_bytes;
    kernel.occupancy = static_cast<double>(blocks * ((shape.threads + 31) / 32)) / warps;
    return kernel;
}

} // namespace

// Returns "update_kernel" for "void parhelion::(anonymous namespace)::update_kernel<…>(…)".
std::string kernel_name(const void* function)
{
    const char* const symbol = gpu_api::symbol_of(function);
    if (symbol == nullptr) // fails after an earlier GPU error, which is then reported
    {
        gpu_api::forget_error();
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
    static std::map<std::pair<int, const void*>, std::size_t> limits; // limits that are set, by GPU and kernel
    const std::lock_guard lock(mutex);
    std::size_t& limit = limits[{queue.device(), kernel}];
    if (bytes <= limit) { return; }
    queue.make_current();
    gpu_check(gpu_api::allow_shared_bytes(kernel, bytes), "shared memory of a kernel");
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
