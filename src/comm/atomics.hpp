// SPDX-License-Identifier: Apache-2.0
// What the protocol asks of a processor's memory: a handful of operations on 64-bit words, each named after its order and scope,
// and the two means of waiting, a pause and a clock. The protocol (comm/protocol.hpp) is a template over this policy.
//
// Scopes: `device` reaches the threads of one rank, `system` every rank. On a CPU they are the same. Order belongs to the
// operation on a word; there are no free-standing fences, which the thread sanitizer does not model and readers cannot attribute.
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
    // Do a rank's waits move messages, and may it do something else in between, however long it takes
    // (Communicator::pause_deadlines())? Kernels do neither.
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
    // A store at system scope, then one more on a counter at device scope. Both release what the thread has written or seen
    // before; whoever sees the count has not necessarily the store.
    static void store_and_count_release(Word* w, Word value, Word* counter)
    {
        store_release_system(w, value);
        std::atomic_ref(*counter).fetch_add(1, std::memory_order_release);
    }

    // Between two looks at a word, the polls-th time in a row: at first a pause of the core, then the core goes to whoever needs
    // it, since ranks may outnumber cores.
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

    // Time that a wait has had to look about. Of what passes between two looks a second counts at the most: when a process is
    // suspended, those that it waits for stand still, too.
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
    static constexpr int spins_before_yield = 256; // about 10 us: a message between two running ranks arrives within it
};

} // namespace parhelion
