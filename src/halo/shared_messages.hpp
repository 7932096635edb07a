// SPDX-License-Identifier: Apache-2.0
// Shares the messages of a fused exchange among the threads of a rank. Each thread packs its part of every message, and the
// last thread publishes it. Thread 0 waits for messages from other ranks and gives their addresses to the other threads.
#pragma once

#include "comm/core/atomics.hpp"
#include "comm/core/protocol.hpp"
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

    // Runs body(thread) on the rank's threads. If it throws on one, await() returns nullptr on the other threads.
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

    // Call it after packing a part of message m. Returns true on the last thread to call it, which then sees all parts.
    bool is_last(std::size_t m) { return packed_[m].arrive(threads_); }

    // Returns the address of message m when it has arrived, or nullptr if another thread has thrown. wait() is the
    // bounded wait for the message; thread 0 alone calls it, once.
    template <class Wait>
    const std::byte* await(std::size_t m, int thread, Wait&& wait)
    {
        if (thread == 0 && arrived_[m].load(std::memory_order_relaxed) == nullptr)
        {
            // The release makes the message, which the wait has acquired, visible to the other threads.
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
