// SPDX-License-Identifier: Apache-2.0
// The device functions of a member's collective (comm/partitioned/gpu/collectives_gpu.hpp). Blocks are one-dimensional. All
// threads of a block call functions that begin with block_, with the same arguments; a single thread calls the others.
//
// Memory orders of a step:
//
// wait     acquire at system scope by a thread for each term and each output, then a block barrier
//   combine  plain loads of slots and input, plain stores to slots of peers and to the result
// publish  block barrier; then at system scope a thread per output releases its signal, and one per term its credit
//
// After a block barrier, a release of `done` publishes the result, and a release of `ready` the input.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/partitioned/gpu/collectives_gpu.hpp"
#include "comm/partitioned/gpu/packets.cuh"
#include "comm/partitioned/gpu/partitioned.cuh"

namespace parhelion {

// Begins the next epoch. Threads that used the last epoch have met the caller at a barrier, or were in an earlier kernel.
__device__ inline bool start(CollectivePrequest& request)
{
    if (is_active(request)) { return refuse(request, Misuse::Active, no_partition); }
    ++request.started;
    return true;
}

__device__ inline bool exists(const CollectivePrequest& request, int partition)
{
    return partition >= 0 && partition < request.partitions;
}

// Marks the input partition, which this block or earlier kernels have written. Returns false if a rule was broken.
__device__ inline bool block_pready(CollectivePrequest& request, int partition)
{
    const bool is_first = threadIdx.x == 0;
    const Misuse misuse = !is_active(request)           ? Misuse::NotActive
                          : !exists(request, partition) ? Misuse::PartitionOutOfRange
                          : !request.takes_input        ? Misuse::BadArgument
                                                        : Misuse::Null;
    if (misuse != Misuse::Null) { return is_first ? refuse(request, misuse, partition) : false; }
    __syncthreads();
    if (is_first && CudaAtomics::fetch_add_acq_rel_device(request.ready + partition, 1) + 1 != request.started)
    {
        refuse(request, Misuse::ReadyTwice, partition);
    }
    return true;
}

// Waits until a partition's word (`ready` or `done`) shows the active epoch. Returns false if the wait failed.
__device__ inline bool wait_word(const CollectivePrequest& request, Word* word)
{
    const FailureRecord record{request.watch->rank, request.watch->rank, request.channel, Awaited::Ready, request.started, 0, 0,
                               *request.watch->tag};
    return wait_until<CudaAtomics>(word, *request.watch, record) == Verdict::Reached;
}

// Executes one step of a partition. Returns false if a wait failed.
template <class T, Reduction reduction>
__device__ bool block_step(CollectivePrequest& request, int partition, const Step& step)
{
    __shared__ const T* terms[GpuWorld::most_ranks];
    __shared__ T* outs[GpuWorld::most_ranks + 1];
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    GpuSender* const senders = request.senders + partition * request.members;
    GpuReceiver* const receivers = request.receivers + partition * request.members;
    const Extent input = request.layouts.input.extent(partition, step.chunk);
    const Extent result = request.layouts.result.extent(partition, step.chunk);
    T* const kept = reinterpret_cast<T*>(request.result) + result.begin;
    const auto place_of = [&](int k) {
        return k < step.terms ? request.terms[step.first_term + k] : request.outs[step.first_out + k - step.terms];
    };
    bool has_failed = false;
    for (int k = thread; k < step.terms + step.outs; k += threads)
    {
        const int place = place_of(k);
        if (k >= step.terms)
        {
            has_failed = has_failed || senders[place].wait_ready(*request.watch) != Verdict::Reached;
            outs[k - step.terms] = reinterpret_cast<T*>(senders[place].slot());
        }
        else if (place == request.place) { terms[k] = reinterpret_cast<const T*>(request.input) + input.begin; }
        else
        {
            has_failed = has_failed || receivers[place].wait_arrived(*request.watch) != Verdict::Reached;
            terms[k] = reinterpret_cast<const T*>(receivers[place].slot());
        }
    }
    if (thread == 0) { outs[step.outs] = kept; }
    if (__syncthreads_or(has_failed)) { return false; }
    const bool is_in_place = step.terms == 1 && terms[0] == kept; // a chunk that is already in its place is not copied
    combine_terms<T, reduction>(terms, step.terms, outs, step.outs + (step.is_kept && !is_in_place ? 1 : 0), result.count,
                                static_cast<std::size_t>(thread), static_cast<std::size_t>(threads));
    __syncthreads();
    for (int k = thread; k < step.terms + step.outs; k += threads)
    {
        const int place = place_of(k);
        if (k >= step.terms) { senders[place].signal(); }
        else if (place != request.place)
        {
            receivers[place].take();
            receivers[place].acknowledge();
        }
    }
    __syncthreads(); // the next step reuses the ends and addresses
    return true;
}

// Executes all steps of a partition whose input is complete, in epoch `epoch`. `here` is the prequest or a copy of it. Returns
// false if a wait failed.
template <class T, Reduction reduction>
__device__ bool block_steps(CollectivePrequest& request, const CollectivePrequest& here, int partition, Word epoch)
{
    if (here.packets.slots != nullptr) { return block_packets<T, reduction>(here, partition, epoch); }
    for (int s = 0; s < request.n_steps; ++s)
    {
        if (!block_step<T, reduction>(request, partition, request.steps[s])) { return false; }
    }
    return true;
}

// Executes all steps of a partition, and marks the result as complete for threads that call parrived().
template <class T, Reduction reduction>
__device__ bool block_complete(CollectivePrequest& request, int partition)
{
    if (!block_steps<T, reduction>(request, request, partition, request.started)) { return false; }
    if (threadIdx.x == 0) { CudaAtomics::store_release_system(request.done + partition, request.started); }
    return true;
}

// Waits for the mark of a partition, then executes all its steps. Returns false if a wait failed.
template <class T, Reduction reduction>
__device__ bool block_run(CollectivePrequest& request, int partition)
{
    const bool waits = request.takes_input && threadIdx.x == 0;
    if (__syncthreads_or(waits && !wait_word(request, request.ready + partition))) { return false; }
    return block_complete<T, reduction>(request, partition);
}

// Marks a partition that this block has just written as ready, and executes all of the block's steps of the collective for it.
template <class T, Reduction reduction>
__device__ bool block_all(CollectivePrequest& request, int partition)
{
    return block_pready(request, partition) && block_complete<T, reduction>(request, partition);
}

// Returns whether this thread may read the partition of the result. True if the request is inactive.
__device__ inline bool parrived(CollectivePrequest& request, int partition)
{
    if (!exists(request, partition)) { return refuse(request, Misuse::PartitionOutOfRange, partition); }
    return !is_active(request) || reached(CudaAtomics::load_acquire_system(request.done + partition), request.started);
}

// Ends an epoch: the block may read the result. Returns false if the wait failed.
__device__ inline bool block_wait(CollectivePrequest& request)
{
    if (!is_active(request)) { return true; }
    bool has_failed = false;
    for (int p = static_cast<int>(threadIdx.x); p < request.partitions && !has_failed; p += static_cast<int>(blockDim.x))
    {
        has_failed = !wait_word(request, request.done + p);
    }
    if (__syncthreads_or(has_failed)) { return false; }
    if (threadIdx.x == 0) { request.ended = request.started; }
    __syncthreads();
    return true;
}

} // namespace parhelion
