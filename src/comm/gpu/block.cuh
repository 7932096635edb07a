// SPDX-License-Identifier: Apache-2.0
// Waits and publications by whole blocks, with the block barriers that rules M1 and M2 of docs/design/communication.md require.
//
// Blocks that share a channel end must all refer to the same epoch. Each block may make its own end for an epoch that all
// blocks know, GpuReceiver(route, nullptr, epoch). Or the shared end advances to the next epoch, but only when all blocks have
// read it and have then arrived (block_arrive).
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/gpu/world_gpu.hpp"

namespace parhelion {

// Called by all threads of a block. Returns true when all of them see what the source wrote, false if the wait failed.
__device__ inline bool block_wait_arrived(const GpuReceiver& receiver, const Watch& watch)
{
    return !__syncthreads_or(threadIdx.x == 0 && receiver.wait_arrived(watch) != Verdict::Reached);
}

// Called by all threads of all blocks that share work, such as packing a message, when their block has done its part. Returns
// true in one thread, of the block that arrives last; that thread has acquired all parts. `goal` is the number of blocks times
// the number of messages so far, this one included. If blocks may be a message ahead of others, each slot needs its own counter.
__device__ inline bool block_arrive(ArrivalCounter<CudaAtomics>& arrivals, Word goal)
{
    __syncthreads();
    return threadIdx.x == 0 && arrivals.arrive(goal);
}

// Counts the blocks of a kernel that are done, and the kernels that have used the counter. These kernels must run one by one.
struct BlockCounter
{
    ArrivalCounter<CudaAtomics> arrivals;
    Word rounds;
};

// Called by all threads of `blocks` blocks of a kernel. Returns true in one thread of the block that calls last (block_arrive).
__device__ inline bool is_last_block(BlockCounter& counter, Word blocks)
{
    const Word rounds = counter.rounds + 1; // read before the arrival, as the last block changes it
    if (!block_arrive(counter.arrivals, rounds * blocks)) { return false; }
    counter.rounds = rounds;
    return true;
}

} // namespace parhelion
