// SPDX-License-Identifier: Apache-2.0
// The method staged-fused: all pulses of positions at once, then all pulses of forces; pulse by pulse if ranks share a GPU.
//
// The idea (Doijade et al., SC Workshops '25): most atoms of a message do not depend on other messages and are sent at once.
// Forwarded atoms follow when the message that brings them has arrived. On the way back, forces of a message are sent when
// those of later messages have been added. So blocks of a message wait for blocks of another, on this rank and its neighbours.
// All blocks of a launch must be on the GPU together, which StagedFusedHalo ensures (rule D1 of docs/design/communication.md).
// With positions later messages wait for earlier ones, with forces earlier for later ones: there is no cycle.
//
// Cost: one launch a direction, and the latency of as many signals as there are pulses that depend on each other.
#pragma once

#include "halo/gpu/messages.cuh"
#include "trace/phases.hpp"

#include <limits>

namespace parhelion {

namespace halo_staged_fused {

// Purpose        sends positions of all pulses to the ranks that hold copies
// Work           some blocks per message (y); a thread per slot. Atoms of earlier messages that are not unpacked yet are
//                forwarded from the inbox, by blocks that wait for these messages after they have sent home atoms.
//                A block does its share of one message
// Reads/Writes   positions, inboxes / the destinations' inboxes
// Orders         waits for earlier messages with acquire; the last block of a message signals with release
// Requires       forces of the previous step have been received; all blocks of the grid run at once on the GPU, one rank a GPU
// Cost           36 bytes a slot
template <class N>
__global__ void __launch_bounds__(halo_threads) forward_x_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    const std::int32_t home_end = a.home_end();
    bool has_more = false;
    for_share(m.send_count, [&](std::int32_t i) {
        const std::int32_t slot = m.send_slots[i];
        if (slot >= home_end) { has_more = true; }
        else if (slot >= 0) { m.x_out[i] = a.state.xq[slot]; }
    });
    if (__syncthreads_or(has_more) != 0)
    {
        const int before = a.number();
        bool has_all = true;
        for (int k = 0; k < before; ++k) { has_all &= block_wait_arrived(a.messages[k].x_receive, *a.watch); }
        for_share(has_all ? m.send_count : 0, [&](std::int32_t i) {
            const std::int32_t slot = m.send_slots[i];
            if (slot < home_end) { return; }
            const GpuMessage<N>& bringer = a.message_of(slot, before);
            m.x_out[i] = bringer.x_in[slot - bringer.begin];
        });
    }
    signal_when_last(m.x_sent, m.x_send);
}

// Called by all threads of a block: waits until the forces that message `m` returns in this epoch have been added.
template <class N>
__device__ bool block_wait_added(const HaloArgs<N>& a, GpuMessage<N>& m, Word epoch)
{
    const ReceiveRoute& route = m.f_receive.route();
    const FailureRecord record{route.destination, route.source, route.channel, Awaited::Signal, epoch, 0, 0, *a.watch->tag};
    return !__syncthreads_or(threadIdx.x == 0 && wait_until<CudaAtomics>(&m.f_added, *a.watch, record) != Verdict::Reached);
}

// Purpose        returns forces on halo atoms to the sources of their positions, through all pulses, and adds them there
// Work           some blocks per message (y), the last message first; a thread per slot. Each block sends its share, forwarded
//                forces after those of all later messages have been added to them, then adds its share of returned forces
// Reads/Writes   forces (halo slots are set to zero; atomic sums), own inboxes, send_slots / the sources' inboxes
// Orders         the last block of a message signals with release, when it has sent and when it has added; waits with acquire
// Requires       forces are complete; all blocks of the grid run at once on the GPU, one rank a GPU
// Cost           traffic of 5 force slots and 5 bytes for each slot
template <class N>
__global__ void __launch_bounds__(halo_threads) return_f_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    const int messages = static_cast<int>(gridDim.y), number = messages - 1 - static_cast<int>(blockIdx.y);
    GpuMessage<N>& m = a.messages[number];
    const Word epoch = m.f_send.next_epoch(); // the epoch is the same for the forces of all messages
    const std::int32_t count = m.count;
    bool has_more = false;
    for_share(count, [&](std::int32_t i) {
        if (m.is_forwarded[i] != 0) { has_more = true; }
        else { send_force(a, m, i); }
    });
    if (__syncthreads_or(has_more) != 0)
    {
        bool has_all = true;
        for (int k = messages - 1; k > number; --k) { has_all &= block_wait_added(a, a.messages[k], epoch); }
        for_share(has_all ? count : 0, [&](std::int32_t i) {
            if (m.is_forwarded[i] != 0) { send_force(a, m, i); }
        });
    }
    signal_when_last(m.f_sent, m.f_send);

    if (block_wait_arrived(m.f_receive, *a.watch))
    {
        for_share(m.send_count, [&](std::int32_t i) { add_received_force(a, m, i); });
    }
    if (is_last_block(m.f_received, gridDim.x))
    {
        CudaAtomics::store_release_system(&m.f_added.epoch, epoch);
        m.f_receive.take();
    }
}

} // namespace halo_staged_fused

template <class N>
class StagedFusedHalo final : public GpuHalo<N>
{
public:
    StagedFusedHalo(GpuQueue& queue, const GpuHaloMemory& memory, int rank)
        : is_forwarded_(memory.capacity * memory.windows.size()),
          messages_(queue, memory, rank, {.is_forwarded = is_forwarded_.data()})
    {
        const int most = resident_blocks(queue) / messages_.count();
        PARHELION_EXPECTS(most >= 1);
        messages_.limit_blocks(most);
    }

    void request_atoms(GpuQueue& queue, GpuState<N>& state) override { messages_.request_atoms(queue, state); }
    void build_send_lists(GpuQueue& queue, GpuState<N>& state) override { messages_.build_send_lists(queue, state); }

    RankProgram exchange_x(GpuQueue& queue, GpuState<N>& state) override
    {
        co_await all_are_here;
        messages_.launch_part(queue, Phase::SendCoordinates, halo_staged_fused::forward_x_kernel<N>, messages_.all(), state);
        co_await all_are_here;
        messages_.receive_x(queue, messages_.all(), state);
    }
    RankProgram return_f(GpuQueue& queue, GpuState<N>& state) override
    {
        co_await all_are_here;
        messages_.launch_part(queue, Phase::ReturnForces, halo_staged_fused::return_f_kernel<N>, messages_.all(), state);
        co_await all_are_here; // the kernel also receives
    }
    int pauses() const override { return 2; }

private:
    // Returns the maximum number of blocks of a launch whose blocks wait for each other (rule D1 above).
    static int resident_blocks(const GpuQueue& queue)
    {
        int least = std::numeric_limits<int>::max();
        for (const auto kernel : {halo_staged_fused::forward_x_kernel<N>, halo_staged_fused::return_f_kernel<N>})
        {
            least = std::min(least, blocks_at_once(queue, kernel, halo_threads));
        }
        return least;
    }

    DeviceBuffer<std::uint8_t> is_forwarded_; // declared before messages_, which points to it
    GpuHaloMessages<N> messages_;
};

// Sends pulse by pulse, with kernels, for ranks that share a GPU, where no kernel may wait for work queued after it.
template <class N>
class StagedPulsesHalo final : public GpuHalo<N>
{
public:
    StagedPulsesHalo(GpuQueue& queue, const GpuHaloMemory& memory, int rank) : messages_(queue, memory, rank) {}

    void request_atoms(GpuQueue& queue, GpuState<N>& state) override { messages_.request_atoms(queue, state); }
    void build_send_lists(GpuQueue& queue, GpuState<N>& state) override { messages_.build_send_lists(queue, state); }

    RankProgram exchange_x(GpuQueue& queue, GpuState<N>& state) override
    {
        for (int m = 0; m < messages_.count(); ++m)
        {
            co_await all_are_here;
            messages_.send_x(queue, messages_.only(m), state);
            co_await all_are_here;
            messages_.receive_x(queue, messages_.only(m), state);
        }
    }
    RankProgram return_f(GpuQueue& queue, GpuState<N>& state) override
    {
        for (int m = messages_.count() - 1; m >= 0; --m)
        {
            co_await all_are_here;
            messages_.send_f(queue, messages_.only(m), state);
            co_await all_are_here;
            messages_.receive_f(queue, messages_.only(m), state);
        }
    }
    int pauses() const override { return 2 * messages_.count(); }

private:
    GpuHaloMessages<N> messages_;
};

} // namespace parhelion
