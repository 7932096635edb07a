// SPDX-License-Identifier: Apache-2.0
// All-reduce for use inside a kernel, in two halves (send and receive), and the kernels that consist of nothing else. Every
// thread of one block calls a half, with the same arguments. The block has at least as many threads as there are ranks.
//
// A type of the caller's is reduced by its combine(T, T), found by argument-dependent lookup, and finished by settled(T) if that
// exists. A .cu file that includes this one instantiates all_reduce and its halves for the type.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/gpu/collectives.hpp"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"

#include <cstdint>

namespace parhelion {

__device__ inline double combine(double a, double b) { return a + b; }
__device__ inline std::int64_t combine(std::int64_t a, std::int64_t b) // modulo 2^64
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
__device__ inline std::uint32_t combine(std::uint32_t a, std::uint32_t b) { return a | b; }
// What becomes of the values of all ranks, once combined.
template <class T>
__device__ T settled(T sum)
{
    return sum;
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

inline constexpr int collective_threads = 256;
static_assert(collective_threads >= GpuWorld::most_ranks);

// Purpose        send this rank's values to all others
// Work           one block; a thread per value, then a thread per peer
// Reads/Writes   values / slots of all peers
// Orders         block barrier, then release at system scope to each peer
// Requires       nothing of the epoch before last unread at a peer: every peer has received from this rank since
// Cost           n (ranks - 1) stores across the links, one release a peer
template <class T>
__global__ void send_kernel(BlockTrace tracing, GpuRankEnds ends, const T* values, int n)
{
    const BlockSpan span(tracing);

    send_to_all(ends, values, n);
}

// Purpose        combine the values of all ranks, in rank order
// Work           one block; a thread per peer waits, then a thread per value
// Reads/Writes   own slots, values / values
// Orders         acquire at system scope from each peer, then block barrier
// Requires       the sends of all ranks, running or queued where they need not wait for this
// Cost           the way of the last signal, n ranks loads
template <class T>
__global__ void receive_kernel(BlockTrace tracing, GpuRankEnds ends, T* values, int n)
{
    const BlockSpan span(tracing);

    receive_from_all(ends, values, n);
}

// Purpose        both of them
// Work           one block
// Reads/Writes   as above
// Orders         as above
// Requires       that all ranks' kernels run at the same time: a GPU each
// Cost           one launch, one way of a signal
template <class T>
__global__ void send_receive_kernel(BlockTrace tracing, GpuRankEnds ends, T* values, int n)
{
    const BlockSpan span(tracing);

    send_to_all(ends, values, n);
    receive_from_all(ends, values, n);
}

template <class Kernel, class Values>
void launch_for(GpuQueue& queue, const GpuCollective& collective, int rank, Kernel kernel, Values* values, int n)
{
    const GpuRankEnds& ends = collective.ends(rank);
    PARHELION_EXPECTS(static_cast<std::size_t>(n) * sizeof(Values) <= collective.capacity());
    if (ends.ranks > 1) { launch(queue, collective.world().phase(), kernel, {1, collective_threads}, ends, values, n); }
}

template <class T>
void all_reduce(GpuQueue& queue, const GpuCollective& collective, int rank, T* values, int n)
{
    PARHELION_EXPECTS(!collective.world().shares_gpu(rank));
    launch_for(queue, collective, rank, send_receive_kernel<T>, values, n);
}
template <class T>
void all_reduce_send(GpuQueue& queue, const GpuCollective& collective, int rank, const T* values, int n)
{
    launch_for(queue, collective, rank, send_kernel<T>, values, n);
}
template <class T>
void all_reduce_receive(GpuQueue& queue, const GpuCollective& collective, int rank, T* values, int n)
{
    launch_for(queue, collective, rank, receive_kernel<T>, values, n);
}

} // namespace parhelion
