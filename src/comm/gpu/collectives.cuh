// SPDX-License-Identifier: Apache-2.0
// All-reduce inside a kernel, in two halves (send_to_all and receive_from_all), and kernels that consist of these halves. All
// threads of one block call a half, with the same arguments. The block has at least as many threads as there are ranks.
//
// Values of a type of the caller's are reduced by its combine(T, T), found by argument-dependent lookup, and finished by its
// settled(T) if that exists. A .cu file that includes this header instantiates all_reduce and its halves for the type.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/gpu/collectives.hpp"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"

#include <cstdint>

namespace parhelion {

__device__ inline double combine(double a, double b) { return a + b; }
__device__ inline std::int64_t combine(std::int64_t a, std::int64_t b) // wraps modulo 2^64
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
__device__ inline std::uint32_t combine(std::uint32_t a, std::uint32_t b) { return a | b; }
// Returns the final value of a reduction for the combined values of all ranks. A type may have its own overload.
template <class T>
__device__ T settled(T sum)
{
    return sum;
}

// Sends this rank's n values to all peers. The whole block must see the present contents of the values' memory.
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
    __syncthreads(); // rule M1 of docs/design/communication.md: the releases below cover the whole block's stores
    if (is_peer) { ends.senders[thread].signal(); }
}

// Combines the values of all ranks. Returns false if a wait failed. One thread owns values[i]; others read it after a barrier.
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
    if (__syncthreads_or(has_failed)) { return false; } // rule M2: the acquires serve the whole block
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

// Purpose        sends this rank's values to all other ranks
// Work           one block; first one thread per value, then one thread per peer
// Reads/Writes   reads the values, writes the slots of all peers
// Orders         a block barrier, then a release at system scope to each peer
// Requires       that every peer has received from this rank in the epoch before last, which used the same slots
// Cost           n (ranks - 1) stores across the links, and one release per peer
template <class T>
__global__ void send_kernel(BlockTrace tracing, GpuRankEnds ends, const T* values, int n)
{
    const BlockSpan span(tracing);

    send_to_all(ends, values, n);
}

// Purpose        combines the values of all ranks, in rank order
// Work           one block; one thread per peer waits, then one thread per value
// Reads/Writes   reads its own slots and values, writes the values
// Orders         an acquire at system scope from each peer, then a block barrier
// Requires       that the sends of all ranks run, or are queued where they need not wait for this kernel
// Cost           the latency of the last signal, and n * ranks loads
template <class T>
__global__ void receive_kernel(BlockTrace tracing, GpuRankEnds ends, T* values, int n)
{
    const BlockSpan span(tracing);

    receive_from_all(ends, values, n);
}

// Purpose        sends and receives, like send_kernel and receive_kernel one after the other
// Work           one block does both halves, send and receive
// Reads/Writes   as in send_kernel and receive_kernel
// Orders         as in send_kernel and receive_kernel
// Requires       that the kernels of all ranks run at the same time: each rank has its own GPU
// Cost           one launch and one signal latency
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
