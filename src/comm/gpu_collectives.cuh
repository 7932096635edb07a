// SPDX-License-Identifier: Apache-2.0
// The halves of an all-reduce as parts of a kernel of one block. Every thread of the block calls them, with the same arguments;
// the block has at least as many threads as there are ranks.
#pragma once

#include "comm/gpu_atomics.cuh"
#include "comm/gpu_collectives.hpp"

#include <cstdint>

namespace parhelion {

__device__ inline double combine(double a, double b) { return a + b; }
__device__ inline std::int64_t combine(std::int64_t a, std::int64_t b) { return a + b; }
__device__ inline std::uint32_t combine(std::uint32_t a, std::uint32_t b) { return a | b; }
__device__ inline FlagsAndBalance combine(FlagsAndBalance a, FlagsAndBalance b)
{
    return {a.flags | b.flags, a.balance + b.balance};
}
// What becomes of the values of all ranks, once combined.
template <class T>
__device__ T settled(T sum)
{
    return sum;
}
__device__ inline FlagsAndBalance settled(FlagsAndBalance sum)
{
    return {sum.flags | (sum.balance != 0 ? FlagsAndBalance::unbalanced : 0), 0};
}

// values: in memory that the whole block sees as it is now.
template <class T>
__device__ void send_to_all(const GpuRankEnds& ends, const T* values, int n)
{
    __shared__ T* slots[GpuWorld::most_ranks];
    const int thread = static_cast<int>(threadIdx.x);
    const bool is_peer = thread < ends.ranks && thread != ends.rank;
    if (is_peer) { slots[thread] = reinterpret_cast<T*>(ends.senders[thread].slot()); }
    __syncthreads();
    for (int i = thread; i < n; i += static_cast<int>(blockDim.x))
    {
        const T value = values[i];
        for (int peer = 0; peer < ends.ranks; ++peer)
        {
            if (peer != ends.rank) { slots[peer][i] = value; }
        }
    }
    __syncthreads(); // M1: the releases below cover the whole block's stores
    if (is_peer) { ends.senders[thread].signal(); }
}

// False if a wait was in vain. values[i] is read and written by one and the same thread; barrier before others read it.
template <class T>
__device__ bool receive_from_all(const GpuRankEnds& ends, T* values, int n)
{
    __shared__ const T* slots[GpuWorld::most_ranks];
    const int thread = static_cast<int>(threadIdx.x);
    const bool is_peer = thread < ends.ranks && thread != ends.rank;
    bool has_failed = false;
    if (is_peer)
    {
        GpuReceiver& receiver = ends.receivers[thread];
        has_failed = receiver.wait_arrived(*ends.watch) != Verdict::Reached;
        slots[thread] = reinterpret_cast<const T*>(receiver.slot());
    }
    if (__syncthreads_or(has_failed)) { return false; } // M2: the acquires above serve the whole block
    for (int i = thread; i < n; i += static_cast<int>(blockDim.x))
    {
        const T mine = values[i];
        T sum = ends.rank == 0 ? mine : slots[0][i];
        for (int r = 1; r < ends.ranks; ++r) { sum = combine(sum, r == ends.rank ? mine : slots[r][i]); }
        values[i] = settled(sum);
    }
    __syncthreads();
    if (is_peer)
    {
        ends.receivers[thread].take();
        ends.receivers[thread].acknowledge();
    }
    return true;
}

} // namespace parhelion
