// SPDX-License-Identifier: Apache-2.0
// Included before a source of halo/ that is compiled into test_halo_gpu: some thread of a block is late at some of its barriers,
// which is where blocks finish their parts of a message. Test programs alone are slowed down by this; the kernels under test
// are those of the library, from the same source.
#pragma once

#include "support/random_delay.cuh"

#include <cuda_runtime.h>

namespace parhelion::test {

__device__ inline void be_late()
{
    const auto now = static_cast<std::uint64_t>(clock64());
    if (threadIdx.x == now % blockDim.x) { random_delay(now * 0x9E3779B97F4A7C15 + blockIdx.y * 64 + blockIdx.x); }
}
__device__ inline void late_syncthreads()
{
    be_late();
    __syncthreads();
}

} // namespace parhelion::test

#define __syncthreads() ::parhelion::test::late_syncthreads()
