// SPDX-License-Identifier: Apache-2.0
// Launches kernels, times them, and counts launches; no other file launches any. Errors of the runtime become DeviceError.
#pragma once

#include "base/error.hpp"
#include "device/gpu/block_trace.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "device/gpu/runtime.cuh"
#include "device/phase_clock.hpp"

#include <string>

namespace parhelion {

struct LaunchShape
{
    int blocks = 1, threads = 32;
    std::size_t shared_bytes = 0; // dynamic shared memory
    int blocks_y = 1;
    // If true, blocks may start while the previous kernel of the queue still runs, as soon as that kernel calls
    // let_next_kernel_begin() or its blocks have ended. The kernel must call await_kernel_before() before it touches
    // data that the previous kernel reads or writes. Allowed only where GpuQueue::launches_early().
    bool begins_early = false;
};

// Returns a grid with one thread per item, in blocks of `threads`. It has a block even without items: no launch is empty.
constexpr LaunchShape one_thread_each(std::size_t items, int threads)
{
    const std::size_t blocks = (items + static_cast<std::size_t>(threads) - 1) / static_cast<std::size_t>(threads);
    return {blocks == 0 ? 1 : static_cast<int>(blocks), threads, 0};
}

// Raises a kernel's limit of dynamic shared memory on the GPU of a queue, unless it is as high already. All simulations of a
// process share the limit. It never falls, so that none lowers it between another one's call of this function and its launch.
void raise_shared_memory_limit(const GpuQueue& queue, const void* kernel, std::size_t bytes);

// Allows a kernel more dynamic shared memory than the default, on this queue's GPU alone. The limit is
// raised only if needed, because multiprocessors divide their memory anew for a kernel with a larger limit.
template <class Kernel>
void allow_shared_memory(const GpuQueue& queue, Kernel kernel, std::size_t bytes)
{
    constexpr std::size_t always_allowed = 48 * 1024, beside = 4 * 1024; // beside: margin for the kernel's static shared memory
    if (bytes + beside <= always_allowed) { return; }
    raise_shared_memory_limit(queue, reinterpret_cast<const void*>(kernel), bytes);
}

// Notes a launch in the table of launched kernels, and returns the kernel's index there.
std::uint16_t note_launch(const void* function, PhaseTag phase, LaunchShape shape);
// Returns the kernel's name without namespaces and template arguments.
std::string kernel_name(const void* function);

// Returns the maximum number of blocks of a kernel that run on this queue's GPU at once.
template <class... Parameters>
int blocks_at_once(const GpuQueue& queue, void (*kernel)(Parameters...), int threads, std::size_t shared_bytes = 0)
{
    queue.make_current();
    int blocks = 0;
    gpu_check(gpu_api::get_resident_blocks(blocks, reinterpret_cast<const void*>(kernel), threads, shared_bytes),
              "occupancy of a kernel");
    return blocks * queue.multiprocessors();
}

inline gpu_api::Launch launch_as(const GpuQueue& queue, LaunchShape shape)
{
    return {.blocks = dim3(static_cast<unsigned>(shape.blocks), static_cast<unsigned>(shape.blocks_y)),
            .threads = dim3(static_cast<unsigned>(shape.threads)),
            .shared_bytes = shape.shared_bytes,
            .stream = queue.stream(),
            .begins_early = shape.begins_early};
}

inline void check_launch(gpu_api::Status status, const void* function)
{
    if (status != gpu_api::success) { gpu_check(status, kernel_name(function).c_str()); }
}

template <class... Parameters>
inline constexpr bool begins_with_trace = false;
template <class... Rest>
inline constexpr bool begins_with_trace<BlockTrace, Rest...> = true;

// Queues kernel(arguments...), or kernel(BlockTrace, arguments...) if its first parameter is a BlockTrace. A failed
// launch throws DeviceError with the kernel's name. Later errors of the kernel are thrown by synchronize().
template <class... Parameters, class... Arguments>
void launch(GpuQueue& queue, PhaseTag phase, void (*kernel)(Parameters...), LaunchShape shape, const Arguments&... arguments)
{
    const std::uint16_t number = note_launch(reinterpret_cast<const void*>(kernel), phase, shape);
    const gpu_api::Launch as = launch_as(queue, shape);
    gpu_api::Status status;
    if constexpr (begins_with_trace<Parameters...>)
    {
        BlockTracer* const tracer = queue.tracer();
        const BlockTrace tracing = tracer == nullptr ? BlockTrace{} : tracer->reserve(number, shape.blocks, shape.blocks_y);
        status = gpu_api::launch(as, kernel, tracing, arguments...);
    }
    else { status = gpu_api::launch(as, kernel, arguments...); }
    check_launch(status, reinterpret_cast<const void*>(kernel));
}

} // namespace parhelion
