// SPDX-License-Identifier: Apache-2.0
// Raises a flag after a given time, so that work stops. Cost: a thread that sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace parhelion {

// Raises `stop` after `seconds`, if given. An object that is destroyed earlier does not raise it any more.
class Deadline
{
public:
    Deadline(std::optional<double> seconds, std::atomic<bool>& stop)
    {
        if (!seconds) { return; }
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(*seconds);
        thread_ = std::jthread([end, &stop](const std::stop_token& done) {
            while (!done.stop_requested() && std::chrono::steady_clock::now() < end)
            {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }
            if (!done.stop_requested()) { stop.store(true, std::memory_order_relaxed); }
        });
    }

private:
    std::jthread thread_;
};

} // namespace parhelion
