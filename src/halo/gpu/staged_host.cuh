// SPDX-License-Identifier: Apache-2.0
// staged-host: pulse by pulse, by the host. A kernel packs, the host waits, starts the copies, waits, and a kernel unpacks.
#pragma once

#include "halo/gpu/fetched.cuh"

namespace parhelion {

template <class N>
class StagedHostHalo final : public GpuHalo<N>
{
public:
    StagedHostHalo(GpuQueue& queue, const GpuHaloMemory& memory, int rank) : messages_(queue, memory, rank) {}

    bool may_be_captured() const override { return false; }
    void request_atoms(GpuQueue& queue, GpuState<N>& state) override { messages_.request_atoms(queue, state); }
    void build_send_lists(GpuQueue& queue, GpuState<N>& state) override { messages_.build_send_lists(queue, state); }

    // Two a message: the first packs, the second copies. Positions first to last, forces last to first.
    int rounds() const override { return 2 * messages_.count(); }
    void send_x(GpuQueue& queue, int round, GpuState<N>& state) override { send(queue, round, x(round), state); }
    void receive_x(GpuQueue& queue, int round, GpuState<N>& state) override { receive(queue, round, x(round), state); }
    void send_f(GpuQueue& queue, int round, GpuState<N>& state) override { send(queue, round, f(round), state); }
    void receive_f(GpuQueue& queue, int round, GpuState<N>& state) override { receive(queue, round, f(round), state); }

private:
    using Message = typename FetchedMessages<N>::Message;

    Message& x(int round) { return messages_.x(round / 2); }
    Message& f(int round) { return messages_.f(messages_.count() - 1 - round / 2); }
    static bool packs(int round) { return round % 2 == 0; }

    void send(GpuQueue& queue, int round, Message& message, GpuState<N>& state)
    {
        if (packs(round)) { return messages_.pack(queue, message, state); }
        messages_.await_packed(message);
        messages_.copy(queue, message);
        fetched_.record(queue);
    }
    void receive(GpuQueue& queue, int round, Message& message, GpuState<N>& state)
    {
        if (packs(round))
        {
            messages_.await(message.packed->event);
            ++message.packed->times;
            return;
        }
        messages_.await(fetched_);
        messages_.unpack(queue, message, state);
    }

    FetchedMessages<N> messages_;
    GpuEvent fetched_; // the latest message
};

} // namespace parhelion
