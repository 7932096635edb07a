// SPDX-License-Identifier: Apache-2.0
// Launches a kernel with an event that passes when all its blocks have begun. Work that waits for other GPUs may be
// queued behind a kernel for which those GPUs wait, as soon as all blocks of that kernel have a place on the GPU.
//
// Work that waits for the event sees none of the kernel's writes. The runtime promises only best
// effort: the event may pass as late as the kernel's end. For work of higher priority, or work on
// places that the kernel cannot use, it may pass before all blocks have begun. AMD's runtime has no such event: there it passes
// at the kernel's end. Cost: that of launch().
#pragma once

#include "device/gpu/graph.hpp"
#include "device/gpu/launch.cuh"

namespace parhelion {

// Queues the kernel as launch() does. `begun`, an event for queues, passes when all blocks have begun. kernel needs a BlockTrace.
template <class... Parameters, class... Arguments>
void launch_begun(GpuQueue& queue, PhaseTag phase, void (*kernel)(BlockTrace, Parameters...), LaunchShape shape, GpuEvent& begun,
                  const Arguments&... arguments)
{
    const std::uint16_t number = note_launch(reinterpret_cast<const void*>(kernel), phase, shape);
    BlockTracer* const tracer = queue.tracer();
    const BlockTrace tracing = tracer == nullptr ? BlockTrace{} : tracer->reserve(number, shape.blocks, shape.blocks_y);
    gpu_api::Launch as = launch_as(queue, shape);
    as.begun = begun.handle();
    check_launch(gpu_api::launch(as, kernel, tracing, arguments...), reinterpret_cast<const void*>(kernel));
}

} // namespace parhelion
