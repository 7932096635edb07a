// SPDX-License-Identifier: Apache-2.0
// Waiting and publishing by whole blocks: the block barriers that belong to rules M1 and M2.
//
// Blocks that share an end must all mean the same epoch. Either each makes an end of its own for an epoch that all know,
// GpuReceiver(route, nullptr, epoch), or the shared end goes on to the next epoch only when all of them have arrived
// (block_arrive), having looked at it before.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/gpu/world_gpu.hpp"

namespace parhelion {

// For all threads of a block. Then what the source wrote is visible to all of them; or false, if the wait was in vain.
__device__ inline bool block_wait_arrived(const GpuReceiver& receiver, const Watch& watch)
{
    return !__syncthreads_or(threadIdx.x == 0 && receiver.wait_arrived(watch) != Verdict::Reached);
}

// For all threads of all blocks that share some work, say pack a message, each having done its part. True in one thread, of the
// block that brings the arrivals to `goal`; it has acquired all parts. The goal is the number of blocks times the rounds of this
// work so far, this one included. Blocks that may be a round ahead of each other need a counter for every slot of the message.
__device__ inline bool block_arrive(ArrivalCounter<CudaAtomics>& arrivals, Word goal)
{
    __syncthreads();
    return threadIdx.x == 0 && arrivals.arrive(goal);
}

// Counts the blocks of a kernel, and the kernels that have counted with it, which come one after another.
struct BlockCounter
{
    ArrivalCounter<CudaAtomics> arrivals;
    Word rounds;
};

// For all threads of `blocks` blocks: as block_arrive(), in the round after those counted.
__device__ inline bool is_last_block(BlockCounter& counter, Word blocks)
{
    const Word rounds = counter.rounds + 1; // before the arrival: the last block counts on
    if (!block_arrive(counter.arrivals, rounds * blocks)) { return false; }
    counter.rounds = rounds;
    return true;
}

} // namespace parhelion
