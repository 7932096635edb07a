// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/delayed_puts.hpp"

#include "comm/core/atomics.hpp"

#include <sys/prctl.h>

namespace parhelion {

// Applies the finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014) to the numbers that identify the put.
double random_of(const Put& put, std::uint64_t seed, std::uint64_t purpose)
{
    std::uint64_t z = seed;
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(put.destination), static_cast<std::uint64_t>(put.signal), put.epoch, purpose})
    {
        z = (z ^ part) + 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        z ^= z >> 31;
    }
    return static_cast<double>(z >> 11) * 0x1p-53;
}

DelayedPuts::DelayedPuts(std::string name, HelperNeeds needs, Calls calls)
    : calls_(std::move(calls)), thread_(std::move(name), needs)
{
    thread_.start([this] { run(); });
}

DelayedPuts::~DelayedPuts()
{
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
        news_.fetch_add(1, std::memory_order_relaxed);
    }
    changed_.notify_one();
    thread_.join();
}

std::int64_t DelayedPuts::overlaps() const
{
    const std::scoped_lock lock(mutex_);
    return under_way_.overlaps();
}

void DelayedPuts::add(const Put& put, Clock::time_point payload_due, Clock::time_point signal_due, Clock::duration repeat_after)
{
    {
        const std::scoped_lock lock(mutex_);
        under_way_.add(put, nullptr, payload_due, signal_due, repeat_after);
        news_.fetch_add(1, std::memory_order_relaxed);
    }
    changed_.notify_one();
}

void DelayedPuts::run()
{
    ::prctl(PR_SET_TIMERSLACK, 1UL); // 1 ns: with more slack sleeps are longer than the emulated latencies
    std::unique_lock lock(mutex_);
    while (!stop_ || !under_way_.is_empty())
    {
        if (under_way_.is_empty() || under_way_.first_due() > Clock::now()) { wait_for_news(lock); }
        else { take_first(lock); }
    }
}

// Waits until an event is counted in news_, or until the first put is due.
void DelayedPuts::wait_for_news(std::unique_lock<std::mutex>& lock)
{
    const bool has_first = !under_way_.is_empty();
    const Clock::time_point due = has_first ? under_way_.first_due() : Clock::time_point::max();
    if (!thread_.has_own_core())
    {
        has_first ? static_cast<void>(changed_.wait_until(lock, due)) : changed_.wait(lock);
        return;
    }
    const std::uint64_t seen = news_.load(std::memory_order_relaxed);
    lock.unlock(); // news_ needs no memory order: data is read after the lock is taken again
    while (news_.load(std::memory_order_relaxed) == seen && (!has_first || Clock::now() < due)) { HostAtomics::pause(0); }
    lock.lock();
}

void DelayedPuts::take_first(std::unique_lock<std::mutex>& lock)
{
    const PutUnderWay next = under_way_.take_first();
    const bool is_copied_first = next.put.data != nullptr && calls_.copy && next.signal_due > Clock::now();
    if (!is_copied_first) { under_way_.leave_line(next); }
    lock.unlock();
    is_copied_first ? calls_.copy(next.put) : calls_.deliver(next.put);
    lock.lock();
    if (is_copied_first) { under_way_.keep_signal_of(next); }
}

} // namespace parhelion
