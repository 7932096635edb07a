// SPDX-License-Identifier: Apache-2.0
// The one place where kernels are launched, timed and counted, and errors of the CUDA runtime become DeviceError.
#pragma once

#include "base/error.hpp"
#include "device/gpu/block_trace.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "device/phase_clock.hpp"

#include <cuda_runtime.h>

#include <string>

namespace parhelion {

inline void cuda_check(cudaError_t status, const char* what)
{
    if (status == cudaSuccess) { return; }
    cudaGetLastError(); // an error of a launch stays behind otherwise
    throw DeviceError(std::string(what) + ": " + cudaGetErrorString(status));
}

struct LaunchShape
{
    int blocks = 1, threads = 32;
    std::size_t shared_bytes = 0; // dynamic
    int blocks_y = 1;
};

// Blocks of `threads` for `items` threads; at least one block, so that kernels need no empty case.
constexpr LaunchShape one_thread_each(std::size_t items, int threads)
{
    const std::size_t blocks = (items + static_cast<std::size_t>(threads) - 1) / static_cast<std::size_t>(threads);
    return {blocks == 0 ? 1 : static_cast<int>(blocks), threads, 0};
}

// For kernels that may need more dynamic shared memory than every kernel gets; on this queue's GPU alone. Asked for only where
// needed: a kernel that may use more makes the multiprocessors divide their memory anew.
template <class Kernel>
void allow_shared_memory(const GpuQueue& queue, Kernel kernel, std::size_t bytes)
{
    constexpr std::size_t always_allowed = 48 * 1024, beside = 4 * 1024; // beside: what kernels have that is not dynamic
    if (bytes + beside <= always_allowed) { return; }
    queue.make_current();
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               "shared memory of a kernel");
}

// The kernel's number in the table of launched kernels.
std::uint16_t note_launch(const void* function, PhaseTag phase, LaunchShape shape);
// Without namespaces and template arguments.
std::string kernel_name(const void* function);

inline cudaLaunchConfig_t launch_config(const GpuQueue& queue, LaunchShape shape)
{
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(shape.blocks), static_cast<unsigned>(shape.blocks_y));
    config.blockDim = dim3(static_cast<unsigned>(shape.threads));
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = queue.stream();
    return config;
}

inline void check_launch(cudaError_t status, const void* function)
{
    if (status != cudaSuccess) { cuda_check(status, kernel_name(function).c_str()); }
}

template <class... Parameters>
inline constexpr bool begins_with_trace = false;
template <class... Rest>
inline constexpr bool begins_with_trace<BlockTrace, Rest...> = true;

// Queues kernel(arguments...), or kernel(BlockTrace, arguments...) if it takes that. A failed launch throws DeviceError with
// the kernel's name; what goes wrong later, synchronize() throws.
template <class... Parameters, class... Arguments>
void launch(GpuQueue& queue, PhaseTag phase, void (*kernel)(Parameters...), LaunchShape shape, const Arguments&... arguments)
{
    const std::uint16_t number = note_launch(reinterpret_cast<const void*>(kernel), phase, shape);
    const cudaLaunchConfig_t config = launch_config(queue, shape);
    cudaError_t status;
    if constexpr (begins_with_trace<Parameters...>)
    {
        BlockTracer* const tracer = queue.tracer();
        const BlockTrace tracing = tracer == nullptr ? BlockTrace{} : tracer->reserve(number, shape.blocks, shape.blocks_y);
        status = cudaLaunchKernelEx(&config, kernel, tracing, arguments...);
    }
    else { status = cudaLaunchKernelEx(&config, kernel, arguments...); }
    check_launch(status, reinterpret_cast<const void*>(kernel));
}

} // namespace parhelion
