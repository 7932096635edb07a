// SPDX-License-Identifier: Apache-2.0
// Waiting and publishing by whole blocks: the block barriers that belong to rules M1 and M2.
//
// Ends are made for an epoch that all blocks know, GpuReceiver(route, nullptr, epoch): an end that is shared by blocks cannot
// count, since one may begin after another has advanced it.
#pragma once

#include "comm/gpu_atomics.cuh"
#include "comm/gpu_world.hpp"

namespace parhelion {

// For all threads of a block. Then what the source wrote is visible to all of them; or false, if the wait was in vain.
__device__ inline bool block_wait_arrived(const GpuReceiver& receiver, const Watch& watch)
{
    return !__syncthreads_or(threadIdx.x == 0 && receiver.wait_arrived(watch) != Verdict::Reached);
}

// For all threads of all blocks that pack a message, each having stored its part. The block that brings the arrivals to `goal`
// publishes: the number of blocks times the messages counted here so far, this one included. Blocks that may be a message ahead
// of each other need a counter for every slot.
__device__ inline void block_publish(GpuSender sender, ArrivalCounter<CudaAtomics>& arrivals, Word goal, std::size_t bytes)
{
    __syncthreads();
    if (threadIdx.x == 0 && arrivals.arrive(goal)) { sender.publish(bytes); }
}

} // namespace parhelion
