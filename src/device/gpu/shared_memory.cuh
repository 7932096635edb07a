// SPDX-License-Identifier: Apache-2.0
// Sets how a multiprocessor's on-chip memory is divided between shared memory and L1 cache (the carveout).
#pragma once

#include "device/gpu/launch.cuh"

namespace parhelion {

// Sets the shared-memory carveout of a kernel on this queue's GPU, in percent of the largest possible, for the time its
// blocks run. Blocks of other kernels then fit beside these blocks on a multiprocessor. By default the driver takes the least
// that the kernel's own blocks need, and other kernels wait until it ends. Cost: a larger carveout leaves less L1 cache.
template <class Kernel>
void leave_shared_memory(const GpuQueue& queue, Kernel kernel, int percent)
{
    queue.make_current();
    gpu_check(gpu_api::prefer_shared_percent(kernel, percent), "shared memory of a kernel");
}

} // namespace parhelion
