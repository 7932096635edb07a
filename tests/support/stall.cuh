// SPDX-License-Identifier: Apache-2.0
// A queue that is held up.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "device/gpu/launch.cuh"

#include <chrono>

namespace parhelion::test {

static __global__ void stall_kernel(std::int64_t ns)
{
    for (const std::int64_t begin = CudaAtomics::nanoseconds(); CudaAtomics::nanoseconds() - begin < ns;) {}
}

// What is queued from here on begins after so long.
inline void stall(GpuQueue& queue, std::chrono::nanoseconds time)
{
    launch(queue, PhaseTag{}, stall_kernel, {1, 1}, std::int64_t{time.count()});
}

} // namespace parhelion::test
