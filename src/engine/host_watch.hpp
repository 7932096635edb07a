// SPDX-License-Identifier: Apache-2.0
// Who notices that the host does not come back from the driver of its GPUs.
//
// The idea: the host looks at its GPUs by waits that end (GpuWorld::wait), but calls that queue work, capture graphs or find
// memory may wait inside the driver, for ever if a GPU is stuck, and nothing can be asked of a thread that is held there. So
// another thread watches it. It counts its own looks, not the time: a process that was stopped for an hour has not been held for
// one. What the host does itself in between is none of its business: an observer's disk may take long, and so may the CPU that
// explains a blow-up. Cost: a look ten times in `limit`, once a second at least.
#pragma once

#include "engine/observer.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace parhelion {

class HostWatch
{
public:
    // when_held() is called once, by the watching thread, when the host has been in one call for `limit`. As the host will not
    // hear of anything again, it had better end the process.
    HostWatch(std::chrono::nanoseconds limit, std::function<void()> when_held);

    void enter() { calls_.fetch_add(1, std::memory_order_relaxed); }
    void leave() { calls_.fetch_add(1, std::memory_order_relaxed); }
    // Between enter() and leave(), also one within another; by the thread that is watched.
    void begin_own_work()
    {
        if (own_work_++ == 0) { leave(); }
    }
    void end_own_work()
    {
        if (--own_work_ == 0) { enter(); }
    }

private:
    void watch(const std::stop_token& done, std::chrono::nanoseconds limit) const;

    std::function<void()> when_held_;
    std::atomic<std::uint64_t> calls_{0}; // odd: the host is in one
    int own_work_ = 0;                    // how many are within each other
    std::jthread thread_;                 // last, so that it ends first
};

// The host is among GPUs while this lives. watch may be null: nobody watches.
class AmongGpus
{
public:
    explicit AmongGpus(HostWatch* watch) : watch_(watch)
    {
        if (watch_ != nullptr) { watch_->enter(); }
    }
    ~AmongGpus()
    {
        if (watch_ != nullptr) { watch_->leave(); }
    }
    AmongGpus(const AmongGpus&) = delete;
    AmongGpus& operator=(const AmongGpus&) = delete;

private:
    HostWatch* watch_;
};

// The host has come from among GPUs for work of its own, which waits for none, and goes back when this ends. watch may be null.
class OwnWork
{
public:
    explicit OwnWork(HostWatch* watch) : watch_(watch)
    {
        if (watch_ != nullptr) { watch_->begin_own_work(); }
    }
    ~OwnWork()
    {
        if (watch_ != nullptr) { watch_->end_own_work(); }
    }
    OwnWork(const OwnWork&) = delete;
    OwnWork& operator=(const OwnWork&) = delete;

private:
    HostWatch* watch_;
};

// An observer to whom the host comes from among GPUs, and goes back.
class AwayFromGpus final : public Observer
{
public:
    AwayFromGpus(HostWatch& watch, Observer& observer) : watch_(watch), observer_(observer) {}

    void frame(const OutputDue& due, Frame&& frame) override
    {
        const OwnWork away(&watch_);
        observer_.frame(due, std::move(frame));
    }
    void energies(const OutputDue& due, const Observables& observables) override
    {
        const OwnWork away(&watch_);
        observer_.energies(due, observables);
    }
    void progress(std::int64_t steps_done, std::int64_t steps_total, double temperature) override
    {
        const OwnWork away(&watch_);
        observer_.progress(steps_done, steps_total, temperature);
    }
    bool checkpoint_due() override { return observer_.checkpoint_due(); }
    void checkpoint(SavedState&& state) override
    {
        const OwnWork away(&watch_);
        observer_.checkpoint(std::move(state));
    }
    void message(const std::string& text) override
    {
        const OwnWork away(&watch_);
        observer_.message(text);
    }

private:
    HostWatch& watch_;
    Observer& observer_;
};

} // namespace parhelion
