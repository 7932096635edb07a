// SPDX-License-Identifier: Apache-2.0
// Adds sums over the threads of a block to a total in global memory. Kernels deliver energies, virials and kinetic
// energies this way. Within a block the order is fixed. Blocks add to the total as they finish, so only integer sums
// have the same bits in every run. Cost: five shuffles per number and warp, one atomic per number and block.
#pragma once

#include "device/gpu/atomics.cuh"
#include "device/gpu/warp.cuh"

#include <cstdint>

namespace parhelion {

__device__ inline void add_atomically(double* total, double value) { atomic_add(total, value); }
__device__ inline void add_atomically(std::int64_t* total, std::int64_t value)
{
    atomic_add(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(value));
}

template <class Sum>
__device__ Sum sum_over_warp(Sum value)
{
    static_assert(sizeof(Sum) == 8);
    for (int distance = 16; distance > 0; distance /= 2) { value += from_lane_above(value, distance); }
    return value; // valid in lane 0 only
}

// Adds the sum of value[i] over all threads of the block to totals[i]. Every thread of the block must call it.
// The block must consist of whole warps and have at most 1024 threads. A second call needs no barrier before it.
template <int n, class Sum>
__device__ void add_block_sums(const Sum (&value)[n], Sum* totals)
{
    __shared__ Sum of_warp[n][32];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int warps = static_cast<int>(blockDim.x) / 32;
    for (int i = 0; i < n; ++i)
    {
        const Sum sum = sum_over_warp(value[i]);
        if (lane == 0) { of_warp[i][warp] = sum; }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    {
        Sum sum = of_warp[i][0];
        for (int w = 1; w < warps; ++w) { sum += of_warp[i][w]; }
        add_atomically(totals + i, sum);
    }
    __syncthreads();
}

} // namespace parhelion
