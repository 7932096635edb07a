// SPDX-License-Identifier: Apache-2.0
// Watches the host thread, which may hang inside the driver of the host's GPUs.
//
// The idea: the host waits for GPUs by calls that have a time limit (GpuWorld::wait). But calls that queue work,
// capture graphs or allocate may hang inside the driver, for ever if a GPU is stuck. Another thread therefore watches
// the host thread. It counts its own checks instead of time, since a process that was stopped for an hour has not
// hung for an hour. Only time in driver calls counts, because an observer's disk (engine/deadline_pause.hpp), or the
// CPU that explains a blow-up, may be slow. Cost: ten checks in `limit`, and at least one check a second.
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
    // The watching thread calls when_held() once, as soon as the host thread has been in one driver call
    // for `limit`. when_held() should end the process, because the host thread will not respond again.
    HostWatch(std::chrono::nanoseconds limit, std::function<void()> when_held);

    void begin_call() { calls_.fetch_add(1, std::memory_order_relaxed); }
    void end_call() { calls_.fetch_add(1, std::memory_order_relaxed); }
    // Pauses the watch during a driver call, called by the host thread itself. Pauses may be nested.
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
    std::atomic<std::uint64_t> calls_{0};                          // odd while the host thread is in a driver call
    int pauses_ = 0;                                               // number of nested pauses
    HelperThread thread_{"watch on the host", HelperNeeds::Turns}; // last member, so that its thread ends before other members do
};

// Its lifetime is a call into the GPU driver, which `watch` times. `watch` may be null: there is no watch then.
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

// Pauses the watch during its lifetime, while the host does work of its own that waits for no GPU.
using WatchPause = DeadlinePause<HostWatch>;

} // namespace parhelion
