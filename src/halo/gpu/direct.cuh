// SPDX-License-Identifier: Apache-2.0
// The method direct: a message from every owner, all at once. Positions go directly to the slots of the copies, and
// the kernel that moves atoms may exchange positions and forces itself (halo/gpu/copies.hpp).
#pragma once

#include "halo/gpu/messages.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace halo_direct {

// Purpose        waits for positions that are stored directly into their slots
// Work           a thread per message
// Reads/Writes   signals
// Orders         waits with acquire: later work of the stream sees the positions
// Requires       all ranks that share this GPU have queued their sends
// Cost           latency of a signal
template <class N>
__global__ void __launch_bounds__(32) await_x_kernel(BlockTrace tracing, HaloArgs<N> a, int messages)
{
    const BlockSpan span(tracing);

    if (static_cast<int>(threadIdx.x) >= messages) { return; }
    GpuReceiver& receive = a.messages[threadIdx.x].x_receive;
    receive.wait_arrived(*a.watch);
    receive.take();
}

} // namespace halo_direct

template <class N>
class DirectHalo final : public GpuHalo<N>
{
public:
    DirectHalo(GpuQueue& queue, const GpuHaloMemory& memory, int rank)
        : shares_gpu_(memory.shares_gpus), in_update_(memory.in_update), done_(cleared<BlockCounter>(queue, 1)),
          copies_of_slot_(cleared<std::int32_t>(queue, memory.capacity)),
          copies_(cleared<Copy<N>>(queue, memory.capacity * memory.windows.size())),
          messages_(queue, memory, rank,
                    {.copies = {.copies_of_slot = copies_of_slot_.data(), .copies = copies_.data(), .done = done_.data()}})
    {
    }

    void request_atoms(GpuQueue& queue, GpuState<N>& state) override { messages_.request_atoms(queue, state); }
    void build_send_lists(GpuQueue& queue, GpuState<N>& state) override { messages_.build_send_lists(queue, state); }

    RankProgram exchange_x(GpuQueue& queue, GpuState<N>& state) override
    {
        co_await all_are_here;
        messages_.send_x(queue, messages_.all(), state);
        co_await all_are_here;
        await_x(queue, state);
    }
    RankProgram return_f(GpuQueue& queue, GpuState<N>& state) override
    {
        co_await all_are_here;
        messages_.send_f(queue, messages_.all(), state);
        co_await all_are_here;
        messages_.receive_f(queue, messages_.all(), state);
    }
    int pauses() const override { return 2; }

    bool update_exchanges() const override { return in_update_; }
    CopyTask<N> update_task(bool adds_forces, bool sends_positions) const override
    {
        if (!in_update_) { return {}; }
        return {messages_.copies(), adds_forces, sends_positions, sends_positions && !shares_gpu_};
    }
    void send_f_to_update(GpuQueue& queue, GpuState<N>& state, GpuEvent* begun) override
    {
        if (begun != nullptr) { messages_.send_f(queue, state, *begun); }
        else { messages_.send_f(queue, messages_.all(), state); }
    }
    // If ranks share a GPU, a kernel behind the sends of all these ranks awaits positions; otherwise the sending kernel does.
    void await_update(GpuQueue& queue, GpuState<N>& state) override
    {
        if (in_update_ && shares_gpu_) { await_x(queue, state); }
    }
    // The update waits for forces of other ranks, so these ranks' sends must not be queued behind it.
    bool update_may_begin_early() const override { return in_update_ && !shares_gpu_; }

private:
    void await_x(GpuQueue& queue, GpuState<N>& state)
    {
        launch(queue, Phase::SendCoordinates, halo_direct::await_x_kernel<N>, {1, 32}, messages_.args(messages_.all(), state),
               messages_.count());
    }
    template <class T>
    static DeviceBuffer<T> cleared(GpuQueue& queue, std::size_t size)
    {
        DeviceBuffer<T> buffer(size);
        buffer.clear(queue);
        return buffer;
    }

    bool shares_gpu_, in_update_;
    // The next two arrays are declared before messages_, which points to them.
    DeviceBuffer<BlockCounter> done_;
    DeviceBuffer<std::int32_t> copies_of_slot_;
    DeviceBuffer<Copy<N>> copies_;
    GpuHaloMessages<N> messages_;
};

} // namespace parhelion
