// SPDX-License-Identifier: Apache-2.0
// Puts that arrive at a time of their own, by a thread that delivers them: payload first, which is read here no earlier than it
// is due, as a network card would, and then the signal. Puts to different slots overtake each other as their times say; those to
// one slot keep their order. A right protocol never has two under way to one slot: overlaps() counts violations.
//
// The emulated network cards (comm/transports/nic_emulation.hpp) and the bad network of the tests (tests/support/faulty.hpp) are
// made of it. Cost: a lock and two tree insertions for each put. Where the thread has a core of its own it polls, else it sleeps.
#pragma once

#include "comm/transports/puts_under_way.hpp"
#include "device/helper_threads.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

namespace parhelion {

// In [0, 1), a function of seed, put and purpose, so that a seed repeats a run as far as the scheduler lets it.
double random_of(const Put& put, std::uint64_t seed, std::uint64_t purpose);

class DelayedPuts
{
public:
    using Clock = PutsUnderWay::Clock;
    struct Calls // of the thread
    {
        std::function<void(const Put&)> deliver;        // payload, if there is any, and signal
        std::function<void(const Put&)> copy = nullptr; // payload alone, of puts whose signal comes later
    };

    DelayedPuts(std::string name, HelperNeeds needs, Calls calls);
    // Delivers what is under way: a rank elsewhere may wait for it.
    ~DelayedPuts();

    // As PutsUnderWay::add().
    void add(const Put& put, Clock::time_point payload_due, Clock::time_point signal_due, Clock::duration repeat_after = {});

    std::int64_t overlaps() const;

private:
    void run();
    void wait_for_news(std::unique_lock<std::mutex>& lock);
    void take_first(std::unique_lock<std::mutex>& lock);

    const Calls calls_;
    mutable std::mutex mutex_; // of what follows
    std::condition_variable changed_;
    PutsUnderWay under_way_;
    std::atomic<std::uint64_t> news_{0}; // counts what the thread should look at; changed with mutex_ taken, polled without
    bool stop_ = false;
    HelperThread thread_; // last: starts when all else is there
};

} // namespace parhelion
