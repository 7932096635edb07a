// SPDX-License-Identifier: Apache-2.0
// A launch that says when it has begun: work that waits for others may follow a kernel that these others wait for, as soon as no
// block of that kernel has yet to find room.
//
// What waits for the event sees nothing of what the kernel does. The runtime promises no more than its best: the event may pass
// when the kernel is done; or before all of it has begun, for work that goes first or takes places which the kernel cannot have.
// Cost: as launch().
#pragma once

#include "device/gpu/graph.hpp"
#include "device/gpu/launch.cuh"

namespace parhelion {

// As launch(); `begun`, an event for queues, is passed when all blocks have begun. The kernel takes a BlockTrace.
template <class... Parameters, class... Arguments>
void launch_begun(GpuQueue& queue, PhaseTag phase, void (*kernel)(BlockTrace, Parameters...), LaunchShape shape, GpuEvent& begun,
                  const Arguments&... arguments)
{
    const std::uint16_t number = note_launch(reinterpret_cast<const void*>(kernel), phase, shape);
    BlockTracer* const tracer = queue.tracer();
    const BlockTrace tracing = tracer == nullptr ? BlockTrace{} : tracer->reserve(number, shape.blocks, shape.blocks_y);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = begun.handle();
    cudaLaunchConfig_t config = launch_config(queue, shape);
    config.attrs = &attribute, config.numAttrs = 1;
    check_launch(cudaLaunchKernelEx(&config, kernel, tracing, arguments...), reinterpret_cast<const void*>(kernel));
}

} // namespace parhelion
