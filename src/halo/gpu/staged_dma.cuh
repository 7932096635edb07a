// SPDX-License-Identifier: Apache-2.0
// staged-dma: pulse by pulse, by copies. Queues wait for each other's events; the host reads the sizes of messages at a
// repartition.
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

    // One a message: positions first to last, forces last to first.
    int rounds() const override { return messages_.count(); }
    void send_x(GpuQueue& queue, int round, GpuState<N>& state) override { send(queue, messages_.x(round), state); }
    void receive_x(GpuQueue& queue, int round, GpuState<N>& state) override { receive(queue, messages_.x(round), state); }
    void send_f(GpuQueue& queue, int round, GpuState<N>& state) override { send(queue, f(round), state); }
    void receive_f(GpuQueue& queue, int round, GpuState<N>& state) override { receive(queue, f(round), state); }

private:
    using Message = typename FetchedMessages<N>::Message;

    Message& f(int round) { return messages_.f(messages_.count() - 1 - round); }

    void send(GpuQueue& queue, Message& message, GpuState<N>& state)
    {
        messages_.pack(queue, message, state);
        ++message.packed->times;
    }
    void receive(GpuQueue& queue, Message& message, GpuState<N>& state)
    {
        messages_.await_packed(message);
        wait_for(queue, message.packed_there->event);
        messages_.copy(queue, message);
        messages_.unpack(queue, message, state);
    }

    FetchedMessages<N> messages_;
};

} // namespace parhelion
