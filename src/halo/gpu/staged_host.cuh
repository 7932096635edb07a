// SPDX-License-Identifier: Apache-2.0
// The method staged-host, pulse by pulse: a kernel packs, the host waits, starts the copies, waits, and a kernel unpacks.
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

    RankProgram exchange_x(GpuQueue& queue, GpuState<N>& state) override
    {
        for (int m = 0; m < messages_.count(); ++m) { co_await exchange(queue, messages_.x(m), state); }
    }
    RankProgram return_f(GpuQueue& queue, GpuState<N>& state) override
    {
        for (int m = messages_.count() - 1; m >= 0; --m) { co_await exchange(queue, messages_.f(m), state); }
    }
    int pauses() const override { return 4 * messages_.count(); }

private:
    using Message = typename FetchedMessages<N>::Message;

    RankProgram exchange(GpuQueue& queue, Message& message, GpuState<N>& state)
    {
        co_await all_are_here;
        messages_.pack(queue, message, state);
        co_await all_are_here;
        messages_.await(message.packed->event);
        ++message.packed->times;
        co_await all_are_here;
        messages_.await_packed(message);
        messages_.copy(queue, message);
        fetched_.record(queue);
        co_await all_are_here;
        messages_.await(fetched_);
        messages_.unpack(queue, message, state);
    }

    FetchedMessages<N> messages_;
    GpuEvent fetched_; // passes when the copy of the latest message is done
};

} // namespace parhelion
