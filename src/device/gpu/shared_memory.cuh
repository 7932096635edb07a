// SPDX-License-Identifier: Apache-2.0
// How a multiprocessor's memory is divided between shared memory and the cache of loads.
#pragma once

#include "device/gpu/launch.cuh"

namespace parhelion {

// While blocks of the kernel run, a multiprocessor has this percentage of its largest shared memory, so that blocks of other
// kernels find some beside them. By itself the driver gives a kernel as little as its own blocks need, and other kernels then
// wait until it ends. On this queue's GPU alone. Cost: the less, the more the kernel loads from the same lines again and again.
template <class Kernel>
void leave_shared_memory(const GpuQueue& queue, Kernel kernel, int percent)
{
    queue.make_current();
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent),
               "shared memory of a kernel");
}

} // namespace parhelion
