// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/delayed_puts.hpp"

#include "comm/atomics.hpp"

#include <algorithm>
#include <sys/prctl.h>

namespace parhelion {

// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014) over the put's identity.
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
    return overlaps_;
}

void DelayedPuts::insert(Clock::time_point due, const Delivery& delivery)
{
    under_way_.emplace(due, delivery);
    news_.fetch_add(1, std::memory_order_relaxed);
}

void DelayedPuts::add(const Put& put, Clock::time_point payload_due, Clock::time_point signal_due, Clock::duration repeat_after)
{
    {
        const std::scoped_lock lock(mutex_);
        Line& line = line_of(put);
        overlaps_ += line.under_way > 0 ? 1 : 0;
        ++line.under_way;
        const Clock::time_point due = std::max(line.last, payload_due);
        line.last = std::max(due, signal_due);
        insert(due, {put, line.last, false});
        if (repeat_after.count() > 0)
        {
            line.last += repeat_after;
            Put signal = put;
            signal.data = nullptr; // by then it may be the sender's again
            insert(line.last, {signal, line.last, true});
        }
    }
    changed_.notify_one();
}

void DelayedPuts::run()
{
    ::prctl(PR_SET_TIMERSLACK, 1UL); // ns: else sleeps are longer than the latencies that are emulated
    std::unique_lock lock(mutex_);
    while (!stop_ || !under_way_.empty())
    {
        if (under_way_.empty() || under_way_.begin()->first > Clock::now()) { wait_for_news(lock); }
        else { take_first(lock); }
    }
}

// Or until the first is due.
void DelayedPuts::wait_for_news(std::unique_lock<std::mutex>& lock)
{
    const bool has_first = !under_way_.empty();
    const Clock::time_point due = has_first ? under_way_.begin()->first : Clock::time_point::max();
    if (!thread_.has_own_core())
    {
        has_first ? static_cast<void>(changed_.wait_until(lock, due)) : changed_.wait(lock);
        return;
    }
    const std::uint64_t seen = news_.load(std::memory_order_relaxed);
    lock.unlock(); // which orders what is read after it was taken again
    while (news_.load(std::memory_order_relaxed) == seen && (!has_first || Clock::now() < due)) { HostAtomics::pause(0); }
    lock.lock();
}

void DelayedPuts::take_first(std::unique_lock<std::mutex>& lock)
{
    Delivery delivery = under_way_.extract(under_way_.begin()).mapped();
    const bool is_copied_first = delivery.put.data != nullptr && calls_.copy && delivery.signal_due > Clock::now();
    // Off the line before it is seen: the reaction may be the next put to this slot.
    if (!delivery.is_repeated && !is_copied_first) { --line_of(delivery.put).under_way; }
    lock.unlock();
    is_copied_first ? calls_.copy(delivery.put) : calls_.deliver(delivery.put);
    lock.lock();
    if (!is_copied_first) { return; }
    delivery.put.data = nullptr;
    under_way_.emplace(delivery.signal_due, delivery);
}

} // namespace parhelion
