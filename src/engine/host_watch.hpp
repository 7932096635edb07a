// SPDX-License-Identifier: Apache-2.0
// A watch on the host thread, which may be held inside the driver of its GPUs.
//
// The idea: the host waits for GPUs by calls that end (GpuWorld::wait). But calls that queue work, capture graphs or allocate
// memory may wait inside the driver, for ever if a GPU is stuck, and a thread that is held there can do nothing. So another
// thread watches it. That thread counts its own looks and not the time: a process that was stopped for an hour has not been held
// for an hour. Time outside such calls does not count: an observer's disk may take long (engine/deadline_pause.hpp), and so may
// the CPU that explains a blow-up. Cost: a look ten times in `limit`, once a second at least.
#pragma once

#include "device/helper_threads.hpp"
#include "engine/deadline_pause.hpp"

#include <atomic>
#include <chrono>
#include <functional>

namespace parhelion {

class HostWatch
{
public:
    // when_held() is called once, by the watching thread, when the host has been in one call for `limit`. As the host will not
    // hear of anything again, it should end the process.
    HostWatch(std::chrono::nanoseconds limit, std::function<void()> when_held);

    void begin_call() { calls_.fetch_add(1, std::memory_order_relaxed); }
    void end_call() { calls_.fetch_add(1, std::memory_order_relaxed); }
    // Between the two of a call, and also within each other; by the thread that is watched.
    void pause_deadlines()
    {
        if (pauses_++ == 0) { end_call(); }
    }
    void resume_deadlines()
    {
        if (--pauses_ == 0) { begin_call(); }
    }

private:
    void watch(const std::stop_token& done, std::chrono::nanoseconds limit) const;

    std::function<void()> when_held_;
    std::atomic<std::uint64_t> calls_{0};                          // odd: the host is in one
    int pauses_ = 0;                                               // how many are within each other
    HelperThread thread_{"watch on the host", HelperNeeds::Turns}; // last, so that it ends first
};

// The host is among GPUs while this lives. watch may be null: nobody watches.
class AmongGpus
{
public:
    explicit AmongGpus(HostWatch* watch) : watch_(watch)
    {
        if (watch_ != nullptr) { watch_->begin_call(); }
    }
    ~AmongGpus()
    {
        if (watch_ != nullptr) { watch_->end_call(); }
    }
    AmongGpus(const AmongGpus&) = delete;
    AmongGpus& operator=(const AmongGpus&) = delete;

private:
    HostWatch* watch_;
};

// The host has come from among GPUs for work of its own, which waits for none.
using WatchPause = DeadlinePause<HostWatch>;

} // namespace parhelion
