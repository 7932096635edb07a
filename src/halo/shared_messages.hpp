// SPDX-License-Identifier: Apache-2.0
// How the threads of a rank share the messages of a fused exchange. Each packs its part of every message; the last one publishes.
// Thread 0 waits for messages from other ranks and tells the others where they are.
#pragma once

#include "comm/atomics.hpp"
#include "comm/protocol.hpp"
#include "device/cpu_queue.hpp"

#include <atomic>
#include <vector>

namespace parhelion {

class SharedMessages
{
public:
    SharedMessages(int threads, std::size_t messages)
        : threads_(static_cast<Word>(threads)), packed_(messages), arrived_(messages)
    {
    }

    // Runs body(thread) on the rank's threads. If one throws, the others' await() ends.
    template <class Body>
    void run(CpuQueue& queue, Body&& body)
    {
        queue.run([&](int thread) {
            try
            {
                body(thread);
            }
            catch (...)
            {
                failed_.store(true, std::memory_order_relaxed);
                throw;
            }
        });
    }

    // Has every other thread packed its part of message m? True for one thread, which then sees all parts.
    bool is_last(std::size_t m) { return packed_[m].arrive(threads_); }

    // Where message m has arrived; nullptr if another thread has thrown. wait(): the bounded wait for
    // it, called by thread 0 alone and once.
    template <class Wait>
    const std::byte* await(std::size_t m, int thread, Wait&& wait)
    {
        if (thread == 0 && arrived_[m].load(std::memory_order_relaxed) == nullptr)
        {
            // Release: the others see the message, which the wait has acquired.
            arrived_[m].store(wait(), std::memory_order_release);
        }
        for (int polls = 0;; ++polls)
        {
            if (const std::byte* data = arrived_[m].load(std::memory_order_acquire)) { return data; }
            if (failed_.load(std::memory_order_relaxed)) { return nullptr; }
            HostAtomics::pause(polls);
        }
    }

private:
    Word threads_;
    std::vector<ArrivalCounter<HostAtomics>> packed_;
    std::vector<std::atomic<const std::byte*>> arrived_;
    std::atomic<bool> failed_{false};
};

} // namespace parhelion
