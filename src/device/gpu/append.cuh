// SPDX-License-Identifier: Apache-2.0
// Lists that many blocks of threads write at once: who of a block has an entry gets a place for it.
//
// The idea: a block counts its entries and takes that many places at the end of the list by one atomic addition. Entries of a
// block stay in the order of its threads, which keeps neighbours together; the order of blocks is as they come. Cost: one atomic
// per block and list, three barriers.
#pragma once

#include "device/gpu/atomics.cuh"
#include "device/gpu/warp.cuh"

#include <cstdint>

namespace parhelion {

// The place of this thread's entry, -1 without one. *count is the length of the list. Every thread of a block of whole warps must
// call it; may be called again at once.
__device__ inline std::int32_t append(bool has_entry, std::int32_t* count)
{
    __shared__ std::int32_t before_warp[32], before_block;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned entries = lanes_where(has_entry);
    if (lane == 0) { before_warp[warp] = __popc(entries); }
    __syncthreads();
    if (threadIdx.x == 0)
    {
        std::int32_t sum = 0;
        for (int w = 0; w < static_cast<int>(blockDim.x) / 32; ++w)
        {
            const std::int32_t of_warp = before_warp[w];
            before_warp[w] = sum;
            sum += of_warp;
        }
        before_block = sum == 0 ? 0 : atomic_add(count, sum);
    }
    __syncthreads();
    const std::int32_t place = before_block + before_warp[warp] + __popc(entries & ((1u << lane) - 1));
    __syncthreads();
    return has_entry ? place : -1;
}

} // namespace parhelion
