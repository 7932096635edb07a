// SPDX-License-Identifier: Apache-2.0
// Puts with delivery times, and a thread that delivers them. Like a network card, the thread reads the payload no earlier than
// it is due, copies it, and then sets the signal. Puts to different slots overtake each other according to their times; puts to
// one slot keep their order. A correct protocol never has two puts in flight to one slot; overlaps() counts violations.
//
// The emulated network cards (comm/transports/nic_emulation.hpp) and the tests' faulty network (tests/support/faulty.hpp) use
// this class. Cost: a lock and two tree insertions per put. With a core of its own the thread polls, otherwise it sleeps.
#pragma once

#include "comm/transports/puts_under_way.hpp"
#include "device/helper_threads.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

namespace parhelion {

// Returns a number in [0, 1) that follows from seed, put and purpose. A seed repeats a run as far as the scheduler allows.
double random_of(const Put& put, std::uint64_t seed, std::uint64_t purpose);

class DelayedPuts
{
public:
    using Clock = PutsUnderWay::Clock;
    struct Calls // functions that the thread calls
    {
        std::function<void(const Put&)> deliver;        // copies the payload, if there is one, then sets the signal
        std::function<void(const Put&)> copy = nullptr; // copies only the payload, if the signal is due later
    };

    DelayedPuts(std::string name, HelperNeeds needs, Calls calls);
    // Delivers all puts in flight first, since ranks of other processes may wait for them.
    ~DelayedPuts();

    // Adds a put, as PutsUnderWay::add() does.
    void add(const Put& put, Clock::time_point payload_due, Clock::time_point signal_due, Clock::duration repeat_after = {});

    std::int64_t overlaps() const;

private:
    void run();
    void wait_for_news(std::unique_lock<std::mutex>& lock);
    void take_first(std::unique_lock<std::mutex>& lock);

    const Calls calls_;
    mutable std::mutex mutex_; // guards the members below
    std::condition_variable changed_;
    PutsUnderWay under_way_;
    std::atomic<std::uint64_t> news_{0}; // number of events so far; written with mutex_ locked, polled without the lock
    bool stop_ = false;
    HelperThread thread_; // declared last: the thread starts when all members exist
};

} // namespace parhelion
