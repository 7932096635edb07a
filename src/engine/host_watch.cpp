// SPDX-License-Identifier: Apache-2.0
#include "engine/host_watch.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace parhelion {

HostWatch::HostWatch(std::chrono::nanoseconds limit, std::function<void()> when_held) : when_held_(std::move(when_held))
{
    thread_.start([this, limit](const std::stop_token& done) { watch(done, limit); });
}

void HostWatch::watch(const std::stop_token& done, std::chrono::nanoseconds limit) const
{
    constexpr std::chrono::nanoseconds longest_sleep = std::chrono::seconds(1);
    const std::chrono::nanoseconds sleep = std::min(limit / 10, longest_sleep);
    std::mutex mutex; // a stop request interrupts sleeps on this mutex
    std::condition_variable_any wake;
    std::uint64_t seen = 0;
    for (std::chrono::nanoseconds held{0}; held < limit;)
    {
        std::unique_lock lock(mutex);
        wake.wait_for(lock, done, sleep, [] { return false; });
        if (done.stop_requested()) { return; }
        const std::uint64_t now = calls_.load(std::memory_order_relaxed);
        held = now % 2 == 1 && now == seen ? held + sleep : std::chrono::nanoseconds{0};
        seen = now;
    }
    when_held_();
}

} // namespace parhelion
