// SPDX-License-Identifier: Apache-2.0
// Makes a mesh kernel receive messages from all peers, send messages to all peers, or both. It is an argument of the kernel.
//
// All threads of all blocks call begin() before they read messages, and end() when they have done their part.
// The last block to call end() advances the receivers and signals the packed messages, so no other launch is
// needed. A block must have at least as many threads as there are ranks. A kernel may only wait for sends
// that are already queued, so that a waiting block does not take the place of a block that it waits for.
#pragma once

#include "comm/gpu/block.cuh"
#include "comm/gpu/peer_ends.hpp"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "trace/phases.hpp"

namespace parhelion {

struct PeerExchange
{
    GpuRankEnds ends{};               // channel ends of any exchange with the same peers; empty: no peers
    GpuReceiver* receivers = nullptr; // receivers of the messages that the kernel receives
    GpuSender* senders = nullptr;     // senders of the messages that the kernel sends
    BlockCounter* done = nullptr;     // counts finished blocks of this kernel alone

    __device__ bool has_peer() const
    {
        const int thread = static_cast<int>(threadIdx.x);
        return thread < ends.ranks && thread != ends.rank;
    }
    // Waits for the messages of all peers, which the whole block can read afterwards. Returns false if a wait has failed.
    __device__ bool begin() const
    {
        if (receivers == nullptr) { return true; }
        const bool has_failed = has_peer() && receivers[threadIdx.x].wait_arrived(*ends.watch) != Verdict::Reached;
        return __syncthreads_or(has_failed) == 0; // rule M2 of docs/design/communication.md
    }
    __device__ void end() const
    {
        if (__syncthreads_or(is_last_block(*done, Word{gridDim.x} * gridDim.y)) == 0 || !has_peer()) { return; }
        if (receivers != nullptr) { receivers[threadIdx.x].take(); }
        if (senders != nullptr) { senders[threadIdx.x].signal(); }
    }
};

// Purpose        waits for messages that the next kernel reads
// Work           a thread per peer, in one block, which leaves the GPU to other kernels however long it waits
// Reads/Writes   signals
// Orders         waits with acquire: later work of the stream sees the messages
// Requires       all peers that share this GPU have queued their sends
// Cost           latency of a signal
template <int threads>
__global__ void __launch_bounds__(threads) await_kernel(BlockTrace tracing, PeerExchange exchange)
{
    const BlockSpan span(tracing);

    if (exchange.begin()) { exchange.end(); }
}

// done: a counter that this wait alone uses.
inline void await_peers(GpuQueue& queue, const GpuRankEnds& ends, BlockCounter* done)
{
    constexpr int threads = GpuWorld::most_ranks;
    launch(queue, Phase::MeshExchange, await_kernel<threads>, {1, threads},
           PeerExchange{.ends = ends, .receivers = ends.receivers, .done = done});
}

} // namespace parhelion
