// SPDX-License-Identifier: Apache-2.0
// What kernels do with a prequest (comm/partitioned/gpu/partitioned_gpu.hpp). Blocks and warps are of one dimension. The prefix
// of a function says who calls it, with the same arguments: all threads of a block, all lanes of a warp; without one it is a
// single thread.
//
// pready copies the partition through the peer's pointer and counts it; it waits, bounded, until the destination has started the
// epoch. Orders, by level:
//
//   credit   one thread's acquire at system scope, then a barrier of those that copy; neither if the caller has seen the credit
//   copy     plain stores to the peer, of all that call
//   barrier  of the block or the warp
//   count    one thread's add, with acquire and release at device scope; of a warp one add for each group of partitions
//   signal   the last of a group, by release at system scope: covers all copies that were counted
//
// With the progression engine there is no copy: what the threads have written to the source's buffer is what the count covers,
// and in place of the signal the last of a group leaves a descriptor for the proxy, by release at system scope
// (comm/proxy_ring.hpp).
//
// With kernel copy a partition that is a group by itself is not counted before its signal, but behind it: nobody's copies are to
// be acquired. A descriptor is left behind the count always.
//
// Cost of a pready beside its copy: two barriers, one load, one add, the wait of a release; a thousand threads that mark a
// partition each add 32 times, once a warp. An acquire empties the first-level cache, so that what is needed of a prequest is
// read before it, at once.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/partitioned/gpu/partitioned_gpu.hpp"
#include "device/gpu/warp.cuh"

namespace parhelion {

// --- the rules

// Leaves the first misuse. Always false.
template <class Prequest>
__device__ bool refuse(Prequest& request, Misuse misuse, int partition)
{
    const Word code = static_cast<Word>(misuse) + 1;
    if (CudaAtomics::exchange_relaxed_system(&request.misuse.code, code) == 0)
    {
        request.misuse.partition = static_cast<Word>(static_cast<std::int64_t>(partition));
    }
    return false;
}

template <class Prequest>
__device__ bool is_active(const Prequest& request)
{
    return request.started != request.ended;
}

// Has the caller seen that the destination has started the epoch: by pbuf_prepare(), before a barrier of those that mark, or in
// an earlier kernel?
enum class Credit
{
    ToBeSeen,
    Seen
};

// What is wrong with a pready of this partition; Misuse::Null: nothing.
__device__ inline Misuse misuse_of_pready(const SendPrequest& request, int partition)
{
    if (!is_active(request)) { return Misuse::NotActive; }
    const bool exists = partition >= 0 && partition < request.core.route().counts.send;
    return exists ? Misuse::Null : Misuse::PartitionOutOfRange;
}

// --- start, prepare and end

// The next epoch. All threads that used the last one have met the caller at a barrier, or in an earlier kernel.
__device__ inline bool start(SendPrequest& request)
{
    if (is_active(request)) { return refuse(request, Misuse::Active, no_partition); }
    ++request.started;
    return true;
}
// Everything of the last epoch has been read: by threads that have met the caller at a barrier, or by earlier kernels.
__device__ inline bool start(ReceivePrequest& request)
{
    if (is_active(request)) { return refuse(request, Misuse::Active, no_partition); }
    const Word nth = request.started + 1;
    request.core.prepare(nth); // before this thread writes anything that its release would wait for
    request.started = nth;
    return true;
}

// Until the destination has started the epoch. False if the wait was in vain.
__device__ inline bool pbuf_prepare(const SendPrequest& request)
{
    if (request.core.is_prepared(request.started)) { return true; }
    const PartitionedSendRoute& route = request.core.route();
    const Word epoch = request.core.epoch(request.started), seen = CudaAtomics::load_relaxed_system(&route.credit->epoch);
    const FailureRecord record{route.source, route.destination,  request.channel, Awaited::Credit, epoch, seen,
                               seen,         *request.watch->tag};
    return wait_until<CudaAtomics>(route.credit, *request.watch, record) == Verdict::Reached;
}

// Until a signal of the active epoch has come. False if the wait was in vain.
__device__ inline bool wait_signal(const ReceivePrequest& request, int signal)
{
    if (request.core.has_signal(signal, request.started)) { return true; }
    const PartitionedReceiveRoute& route = request.core.route();
    const Word epoch = request.core.epoch(request.started);
    const FailureRecord record{route.destination,  route.source, request.channel, Awaited::Signal, epoch, 0, epoch,
                               *request.watch->tag};
    return wait_until<CudaAtomics>(route.signals + signal, *request.watch, record) == Verdict::Reached;
}

// Until all partitions of a signal's group have been marked in the active epoch, and have left: nobody reads them any more. False
// if the wait was in vain.
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

// Every step-th signal, from the first. False if a wait was in vain.
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

// The end of an epoch: at the destination all partitions have arrived, and the caller may read them; at the source all have left.
// False if a wait was in vain.
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

// Copies a partition, by thread `thread` of `threads`: 16 bytes at a time where both ends are aligned so, else 4 or one.
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

// May one thread, for all that are about to copy the partition, let them? `here` is a copy of the prequest.
__device__ inline bool may_mark(SendPrequest& request, const SendPrequest& here, int partition, Credit credit)
{
    const bool is_complete = here.core.is_complete(partition, here.started); // on its way together with the credit
    if (credit == Credit::ToBeSeen && !pbuf_prepare(here)) { return false; }
    return !is_complete || refuse(request, Misuse::ReadyTwice, partition);
}

// `n` partitions of one group, which the caller has met at a barrier, are in their places.
__device__ inline void arrive(SendPrequest& request, const SendPrequest& here, int partition, Word n)
{
    if (here.core.arrive(partition, here.started, n) == Arrival::TooMany) { refuse(request, Misuse::ReadyTwice, partition); }
}

// The block's partition: what its threads have written to the buffer until now. False if it has not been sent: a rule was broken,
// or the destination did not start.
__device__ inline bool block_pready(SendPrequest& request, int partition, Credit credit = Credit::ToBeSeen)
{
    const int thread = static_cast<int>(threadIdx.x);
    const SendPrequest here = request;
    const Misuse misuse = misuse_of_pready(here, partition);
    if (misuse != Misuse::Null) { return thread == 0 ? refuse(request, misuse, partition) : false; }
    const bool may = thread != 0 || may_mark(request, here, partition, credit);
    const bool is_stored = credit == Credit::Seen && here.buffer == nullptr; // already, with leave: one barrier is enough
    if (!is_stored && __syncthreads_or(!may)) { return false; }
    copy_partition(here, partition, thread, static_cast<int>(blockDim.x));
    __syncthreads();
    if (thread == 0 && may) { arrive(request, here, partition, 1); }
    return may;
}

// The warp's partition.
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

// A partition for each lane of the warp, or no_partition. One add for each group that lanes have partitions of: one or two, where
// neighbours have neighbouring partitions. False for a lane whose partition has not been sent.
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
        const int of_leader = from_lane(signal, leader); // by all lanes, also those without a partition
        const std::uint32_t group = lanes_where(is_legal && signal == of_leader);
        if (lane == leader) { arrive(request, here, partition, static_cast<Word>(__popc(group))); }
        left &= ~group;
    }
    return is_legal || !is_any;
}

// --- at the destination

// May this thread read the partition? True of an inactive request.
__device__ inline bool parrived(ReceivePrequest& request, int partition)
{
    if (partition < 0 || partition >= request.core.route().counts.receive)
    {
        return refuse(request, Misuse::PartitionOutOfRange, partition);
    }
    return !is_active(request) || request.core.has_arrived(partition, request.started);
}

// Until the block may read the partition. False if the wait was in vain.
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
