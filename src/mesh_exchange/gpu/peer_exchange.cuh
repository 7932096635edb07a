// SPDX-License-Identifier: Apache-2.0
// How a kernel of the mesh takes in messages from all peers, sends some to all, or both: a policy of kernels.
//
// All threads of all blocks call begin() before they read what came, and end() when they have done their part. The last block to
// end goes on to the next messages and signals those that were packed, so that no launch is spent on it. A block has at least as
// many threads as there are ranks. Only the sends of other ranks may be awaited, and these are queued before: a block that waits
// keeps no other from its place.
#pragma once

#include "comm/gpu/block.cuh"
#include "comm/gpu/peer_ends.hpp"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "trace/phases.hpp"

namespace parhelion {

struct PeerExchange
{
    GpuRankEnds ends{};               // of any exchange with the same peers; none: there are no peers
    GpuReceiver* receivers = nullptr; // whose messages are taken in
    GpuSender* senders = nullptr;     // whose messages are sent
    BlockCounter* done = nullptr;     // of this kernel alone

    __device__ bool has_peer() const
    {
        const int thread = static_cast<int>(threadIdx.x);
        return thread < ends.ranks && thread != ends.rank;
    }
    // What all peers have stored is visible to the whole block; or false, if a wait was in vain.
    __device__ bool begin() const
    {
        if (receivers == nullptr) { return true; }
        const bool has_failed = has_peer() && receivers[threadIdx.x].wait_arrived(*ends.watch) != Verdict::Reached;
        return __syncthreads_or(has_failed) == 0; // rule M2
    }
    __device__ void end() const
    {
        if (__syncthreads_or(is_last_block(*done, Word{gridDim.x} * gridDim.y)) == 0 || !has_peer()) { return; }
        if (receivers != nullptr) { receivers[threadIdx.x].take(); }
        if (senders != nullptr) { senders[threadIdx.x].signal(); }
    }
};

// Purpose        wait for messages that the next kernel reads
// Work           a thread per peer: one block, which leaves the GPU to others however long it waits
// Reads/Writes   signals
// Orders         waits with acquire: what comes next in the stream sees what was sent
// Requires       sent by all peers that share this GPU
// Cost           latency of a signal
template <int threads>
__global__ void __launch_bounds__(threads) await_kernel(BlockTrace tracing, PeerExchange exchange)
{
    const BlockSpan span(tracing);

    if (exchange.begin()) { exchange.end(); }
}

// done: of this wait alone.
inline void await_peers(GpuQueue& queue, const GpuRankEnds& ends, BlockCounter* done)
{
    constexpr int threads = GpuWorld::most_ranks;
    launch(queue, Phase::MeshExchange, await_kernel<threads>, {1, threads},
           PeerExchange{.ends = ends, .receivers = ends.receivers, .done = done});
}

} // namespace parhelion
