// SPDX-License-Identifier: Apache-2.0
// The device functions of prequests (comm/partitioned/gpu/partitioned_gpu.hpp). Blocks and warps are one-dimensional. The prefix
// block_ or warp_ of a function means that all threads of a block, or all lanes of a warp, call it with the same arguments. A
// function without prefix is called by a single thread.
//
// pready waits, bounded, until the destination has started the epoch. It then copies the partition through the peer's pointer and
// counts it. Memory orders, by level:
//
// credit   acquire at system scope by one thread, then a barrier of the copying threads; not needed with Credit::Seen
// copy     plain stores to the peer, by all calling threads
// barrier  one barrier of the block or the warp
// count    one add, acquire and release at device scope, by one thread; in a warp one add per group of partitions
// signal   release at system scope by the last of a group: it covers all copies that were counted
//
// With the progression engine a proxy copies, so threads make no copy. The count covers what the threads have written to the
// source's buffer. Instead of a signal, the last of a group leaves a descriptor for the proxy, by release at system scope
// (comm/core/proxy_ring.hpp).
//
// With kernel copy, a partition that is a group by itself is counted after its signal, not before it, as there are no copies of
// other threads to acquire. A descriptor is always left after the count.
//
// Cost of a pready beside its copy: two barriers, one load, one add, and the wait of a release. A thousand threads that mark
// one partition each make 32 adds, one per warp. An acquire empties the first-level cache. Therefore all that is needed of a
// prequest is loaded together, before the acquire.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/partitioned/gpu/partitioned_gpu.hpp"
#include "device/gpu/warp.cuh"

namespace parhelion {

// --- the rules

// Records the misuse if it is the request's first. Always returns false.
template <class Prequest>
__device__ bool refuse(Prequest& request, Misuse misuse, int partition)
{
    if (CudaAtomics::exchange_relaxed_system(&request.misuse.claimed, 1) == 0)
    {
        request.misuse.code = static_cast<Word>(misuse) + 1;
        request.misuse.partition = static_cast<Word>(static_cast<std::int64_t>(partition));
    }
    return false;
}

template <class Prequest>
__device__ bool is_active(const Prequest& request)
{
    return request.started != request.ended;
}

// Tells whether the caller knows that the destination has started the epoch. The caller knows this if pbuf_prepare() was called
// before a barrier of the marking threads, or in an earlier kernel.
enum class Credit
{
    ToBeSeen,
    Seen
};

// Returns what is wrong with a pready of this partition; Misuse::Null means nothing.
__device__ inline Misuse misuse_of_pready(const SendPrequest& request, int partition)
{
    if (!is_active(request)) { return Misuse::NotActive; }
    const bool exists = partition >= 0 && partition < request.core.route().counts.send;
    return exists ? Misuse::Null : Misuse::PartitionOutOfRange;
}

// --- start, prepare and end

// Begins the next epoch. Threads that used the last epoch have met the caller at a barrier, or were in an earlier kernel.
__device__ inline bool start(SendPrequest& request)
{
    if (is_active(request)) { return refuse(request, Misuse::Active, no_partition); }
    ++request.started;
    return true;
}
// Begins the next epoch. The last epoch's data must have been read before a barrier with the caller, or by earlier kernels.
__device__ inline bool start(ReceivePrequest& request)
{
    if (is_active(request)) { return refuse(request, Misuse::Active, no_partition); }
    const Word nth = request.started + 1;
    request.core.prepare(nth); // comes before other writes of this thread, for which its release would wait
    request.started = nth;
    return true;
}

// Waits until the destination has started the epoch. Returns false if the wait failed.
__device__ inline bool pbuf_prepare(const SendPrequest& request)
{
    if (request.core.is_prepared(request.started)) { return true; }
    const PartitionedSendRoute& route = request.core.route();
    const Word epoch = request.core.epoch(request.started), seen = CudaAtomics::load_relaxed_system(&route.credit->epoch);
    const FailureRecord record{route.source, route.destination,  request.channel, Awaited::Credit, epoch, seen,
                               seen,         *request.watch->tag};
    return wait_until<CudaAtomics>(route.credit, *request.watch, record) == Verdict::Reached;
}

// Waits for one signal of the active epoch. Returns false if the wait failed.
__device__ inline bool wait_signal(const ReceivePrequest& request, int signal)
{
    if (request.core.has_signal(signal, request.started)) { return true; }
    const PartitionedReceiveRoute& route = request.core.route();
    const Word epoch = request.core.epoch(request.started);
    const FailureRecord record{route.destination,  route.source, request.channel, Awaited::Signal, epoch, 0, epoch,
                               *request.watch->tag};
    return wait_until<CudaAtomics>(route.signals + signal, *request.watch, record) == Verdict::Reached;
}

// Waits until all partitions of a signal's group have been marked in the active epoch and have left, so that nobody reads them
// any more. Returns false if the wait failed.
__device__ inline bool wait_signal(const SendPrequest& request, int signal)
{
    const PartitionedSendRoute& route = request.core.route();
    const Word goal = request.core.goal(signal, request.started), epoch = request.core.epoch(request.started);
    const auto wait = [&](Word* word, Word until, Awaited awaited) {
        if (reached(CudaAtomics::load_acquire_system(word), until)) { return true; }
        const FailureRecord record{route.source, route.destination, request.channel, awaited, until, 0, 0, *request.watch->tag};
        return wait_until<CudaAtomics>(word, *request.watch, record) == Verdict::Reached;
    };
    if (!wait(request.core.arrivals(signal), goal, Awaited::Ready)) { return false; }
    return request.read == nullptr || wait(request.read + signal, epoch, Awaited::Proxy);
}

// Waits for every step-th signal of the active epoch, from `first` on. Returns false if a wait failed.
template <class Prequest>
__device__ bool wait_all(const Prequest& request, int first, int step)
{
    const int signals = request.core.route().counts.signals();
    for (int s = first; s < signals; s += step)
    {
        if (!wait_signal(request, s)) { return false; }
    }
    return true;
}

// Ends an epoch. At the destination all partitions have then arrived, and the caller may read them. At the source all
// partitions have left. Returns false if a wait failed.
template <class Prequest>
__device__ bool wait(Prequest& request)
{
    const Prequest here = request;
    if (!is_active(here)) { return true; }
    if (!wait_all(here, 0, 1)) { return false; }
    request.ended = here.started;
    return true;
}
template <class Prequest>
__device__ bool block_wait(Prequest& request)
{
    const Prequest here = request;
    if (!is_active(here)) { return true; }
    const bool has_failed = !wait_all(here, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
    if (__syncthreads_or(has_failed)) { return false; }
    if (threadIdx.x == 0) { request.ended = here.started; }
    __syncthreads();
    return true;
}

// --- at the source

// Copies thread `thread`'s share of a partition, 16 bytes at a time if both addresses are so aligned, otherwise 4 bytes or 1.
__device__ inline void copy_partition(const SendPrequest& request, int partition, int thread, int threads)
{
    if (request.buffer == nullptr) { return; }
    const std::size_t bytes = request.core.route().partition_bytes;
    const std::byte* const from = request.buffer + static_cast<std::size_t>(partition) * bytes;
    std::byte* const to = request.core.place(partition);
    const auto step = static_cast<std::size_t>(threads);
    const auto copy_as = [&](auto unit, std::size_t begin) {
        using Unit = decltype(unit);
        const std::size_t units = (bytes - begin) / sizeof(Unit);
        const auto* const f = reinterpret_cast<const Unit*>(from + begin);
        auto* const t = reinterpret_cast<Unit*>(to + begin);
        for (std::size_t i = static_cast<std::size_t>(thread); i < units; i += step) { t[i] = f[i]; }
        return begin + units * sizeof(Unit);
    };
    const auto alignment = (reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % 16;
    std::size_t done = 0;
    if (alignment == 0) { done = copy_as(uint4{}, done); }
    if (alignment % 4 == 0) { done = copy_as(unsigned{}, done); }
    copy_as(static_cast<unsigned char>(0), done);
}

// Returns whether all threads may copy the partition; one thread checks that for them. `here` is a copy of the prequest.
__device__ inline bool may_mark(SendPrequest& request, const SendPrequest& here, int partition, Credit credit)
{
    const bool is_complete = here.core.is_complete(partition, here.started); // loaded early, together with the credit
    if (credit == Credit::ToBeSeen && !pbuf_prepare(here)) { return false; }
    return !is_complete || refuse(request, Misuse::ReadyTwice, partition);
}

// Counts `n` partitions of one group, which are in place. The caller has met the threads that copied them at a barrier.
__device__ inline void arrive(SendPrequest& request, const SendPrequest& here, int partition, Word n)
{
    if (here.core.arrive(partition, here.started, n) == Arrival::TooMany) { refuse(request, Misuse::ReadyTwice, partition); }
}

// Marks a partition as ready, with all that the block's threads have written to it until now. Returns false if the partition
// has not been sent, because a rule was broken or the destination did not start.
__device__ inline bool block_pready(SendPrequest& request, int partition, Credit credit = Credit::ToBeSeen)
{
    const int thread = static_cast<int>(threadIdx.x);
    const SendPrequest here = request;
    const Misuse misuse = misuse_of_pready(here, partition);
    if (misuse != Misuse::Null) { return thread == 0 ? refuse(request, misuse, partition) : false; }
    const bool may = thread != 0 || may_mark(request, here, partition, credit);
    const bool is_stored = credit == Credit::Seen && here.buffer == nullptr; // stored with permission: one barrier is enough
    if (!is_stored && __syncthreads_or(!may)) { return false; }
    copy_partition(here, partition, thread, static_cast<int>(blockDim.x));
    __syncthreads();
    if (thread == 0 && may) { arrive(request, here, partition, 1); }
    return may;
}

// Marks a partition as ready, with all that the warp's threads have written to it. Returns what block_pready() returns.
__device__ inline bool warp_pready(SendPrequest& request, int partition, Credit credit = Credit::ToBeSeen)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const SendPrequest here = request;
    const Misuse misuse = misuse_of_pready(here, partition);
    if (misuse != Misuse::Null) { return lane == 0 ? refuse(request, misuse, partition) : false; }
    warp_barrier();
    if (any_lane(lane == 0 && !may_mark(request, here, partition, credit))) { return false; }
    warp_barrier();
    copy_partition(here, partition, lane, 32);
    warp_barrier();
    if (lane == 0) { arrive(request, here, partition, 1); }
    return true;
}

// Marks one partition per lane as ready; no_partition means none. Each group of partitions costs one add: one or two adds if
// neighbouring lanes have neighbouring partitions. Returns false in a lane whose partition was not sent.
__device__ inline bool warp_pready_each(SendPrequest& request, int partition, Credit credit = Credit::ToBeSeen)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const SendPrequest here = request;
    const bool is_any = partition != no_partition;
    const Misuse misuse = is_any ? misuse_of_pready(here, partition) : Misuse::Null;
    if (misuse != Misuse::Null) { refuse(request, misuse, partition); }
    const bool is_legal = is_any && misuse == Misuse::Null && may_mark(request, here, partition, Credit::Seen);
    if (!any_lane(is_legal)) { return !is_any; }
    if (credit == Credit::ToBeSeen && any_lane(lane == 0 && !pbuf_prepare(here))) { return false; }
    warp_barrier();
    if (is_legal) { copy_partition(here, partition, 0, 1); }
    warp_barrier();
    const int signal = is_legal ? here.core.route().counts.signal_of(partition) : -1;
    for (std::uint32_t left = lanes_where(is_legal); left != 0;)
    {
        const int leader = __ffs(static_cast<int>(left)) - 1;
        const int of_leader = from_lane(signal, leader); // all lanes take part, also those without a partition to mark
        const std::uint32_t group = lanes_where(is_legal && signal == of_leader);
        if (lane == leader) { arrive(request, here, partition, static_cast<Word>(__popc(group))); }
        left &= ~group;
    }
    return is_legal || !is_any;
}

// --- at the destination

// Returns whether this thread may read the partition. True if the request is inactive.
__device__ inline bool parrived(ReceivePrequest& request, int partition)
{
    if (partition < 0 || partition >= request.core.route().counts.receive)
    {
        return refuse(request, Misuse::PartitionOutOfRange, partition);
    }
    return !is_active(request) || request.core.has_arrived(partition, request.started);
}

// Waits until the block may read the partition. Returns false if the wait failed.
__device__ inline bool block_wait_parrived(ReceivePrequest& request, int partition)
{
    if (!is_active(request)) { return true; }
    const SignalRange needed = request.core.route().counts.needed_by(partition);
    bool has_failed = false;
    for (int s = needed.begin + static_cast<int>(threadIdx.x); s < needed.end && !has_failed; s += static_cast<int>(blockDim.x))
    {
        has_failed = !wait_signal(request, s);
    }
    return !__syncthreads_or(has_failed);
}

} // namespace parhelion
