// SPDX-License-Identifier: Apache-2.0
// The memory operations of the channel protocol (comm/core/protocol.hpp), which is a template over this policy. They are a few
// operations on 64-bit words, each named after its memory order and scope. The policy also has two means of waiting: a pause
// between polls, and a clock.
//
// Scopes: `device` covers the threads of one rank, `system` all ranks. On a CPU the two are the same. The order belongs to the
// operation on a word. There are no stand-alone fences, which the thread sanitizer does not model and readers cannot attribute.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace parhelion {

using Word = std::uint64_t;

struct HostAtomics
{
    // True on a host. On a host a waiting rank moves messages, and a rank may pause all deadlines to do other work
    // (Communicator::pause_deadlines()). Kernels do neither.
    static constexpr bool is_host = true;

    static Word load_acquire_system(Word* w) { return std::atomic_ref(*w).load(std::memory_order_acquire); }
    static Word load_relaxed_system(Word* w) { return std::atomic_ref(*w).load(std::memory_order_relaxed); }
    static void store_release_system(Word* w, Word value) { std::atomic_ref(*w).store(value, std::memory_order_release); }
    static void store_relaxed_system(Word* w, Word value) { std::atomic_ref(*w).store(value, std::memory_order_relaxed); }
    static Word exchange_relaxed_system(Word* w, Word value)
    {
        return std::atomic_ref(*w).exchange(value, std::memory_order_relaxed);
    }
    static Word fetch_add_relaxed_system(Word* w, Word n) { return std::atomic_ref(*w).fetch_add(n, std::memory_order_relaxed); }
    static Word fetch_add_acq_rel_device(Word* w, Word n) { return std::atomic_ref(*w).fetch_add(n, std::memory_order_acq_rel); }
    // Stores a word at system scope, then increments a counter at device scope. Each of the two releases what the thread has
    // written or seen before. A thread that sees the count does not necessarily see the stored word.
    static void store_and_count_release(Word* w, Word value, Word* counter)
    {
        store_release_system(w, value);
        std::atomic_ref(*counter).fetch_add(1, std::memory_order_release);
    }

    // pause() pauses between two polls of a word; `polls` is the number of polls of this wait. The first pauses only slow the
    // core. Once yields() is true, the thread yields the core to other threads, since ranks may outnumber cores.
    static bool yields(int polls) { return polls >= spins_before_yield; }
    static void pause(int polls)
    {
        if (yields(polls))
        {
            std::this_thread::yield();
            return;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    // Returns the time in ns of a clock for waits, one clock per thread. It counts at most one second between two calls: if
    // this process was suspended, the processes that it waits for may have been suspended, too.
    static std::int64_t nanoseconds()
    {
        thread_local std::int64_t last = 0, counted = 1;
        const std::int64_t now =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
        if (last != 0) { counted += std::min<std::int64_t>(now - last, 1'000'000'000); }
        last = now;
        return counted;
    }

private:
    static constexpr int spins_before_yield = 256; // about 10 us; a message between two running ranks takes less
};

} // namespace parhelion
