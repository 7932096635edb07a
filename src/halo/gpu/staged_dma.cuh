// SPDX-License-Identifier: Apache-2.0
// The method staged-dma: pulse by pulse, with copies. Queues wait for each other's events; the host reads the sizes
// of messages at a repartition.
#pragma once

#include "halo/gpu/fetched.cuh"

namespace parhelion {

template <class N>
class StagedDmaHalo final : public GpuHalo<N>
{
public:
    StagedDmaHalo(GpuQueue& queue, const GpuHaloMemory& memory, int rank) : messages_(queue, memory, rank) {}

    bool may_be_captured() const override { return false; }
    void request_atoms(GpuQueue& queue, GpuState<N>& state) override { messages_.request_atoms(queue, state); }
    void build_send_lists(GpuQueue& queue, GpuState<N>& state) override { messages_.build_send_lists(queue, state); }

    RankProgram exchange_x(GpuQueue& queue, GpuState<N>& state) override
    {
        for (int m = 0; m < messages_.count(); ++m) { co_await exchange(queue, messages_.x(m), state); }
    }
    RankProgram return_f(GpuQueue& queue, GpuState<N>& state) override
    {
        for (int m = messages_.count() - 1; m >= 0; --m) { co_await exchange(queue, messages_.f(m), state); }
    }
    int pauses() const override { return 2 * messages_.count(); }

private:
    using Message = typename FetchedMessages<N>::Message;

    RankProgram exchange(GpuQueue& queue, Message& message, GpuState<N>& state)
    {
        co_await all_are_here;
        messages_.pack(queue, message, state);
        ++message.packed->times;
        co_await all_are_here;
        messages_.await_packed(message);
        wait_for(queue, message.packed_there->event);
        messages_.copy(queue, message);
        messages_.unpack(queue, message, state);
    }

    FetchedMessages<N> messages_;
};

} // namespace parhelion
