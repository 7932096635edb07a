// SPDX-License-Identifier: Apache-2.0
// Appends to lists that many thread blocks write at once: each thread that has an entry gets a place for it.
//
// The idea: a block counts its entries and reserves that many places at the end of the list by one atomic addition.
// Entries of a block stay in the order of its threads, which keeps neighbours together; the order of the blocks
// varies from run to run. Cost: one atomic per block and list, three barriers.
#pragma once

#include "device/gpu/atomics.cuh"
#include "device/gpu/warp.cuh"

#include <cstdint>

namespace parhelion {

// Returns the index of this thread's entry, or -1 without entry. Adds the block's number of entries to *count, the list's
// length. Every thread of the block must call it; the block must have whole warps. Calls in a row need no barrier between them.
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
