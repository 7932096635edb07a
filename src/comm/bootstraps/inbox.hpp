// SPDX-License-Identifier: Apache-2.0
// Letters to a rank that it has not read yet, in the order in which they came.
#pragma once

#include "comm/bootstrap.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

namespace parhelion {

class Inbox
{
public:
    void leave(Bytes letter)
    {
        const std::scoped_lock lock(mutex_);
        letters_.push_back(std::move(letter));
        waiting_.store(letters_.size(), std::memory_order_relaxed);
    }
    // The first of them, which is then gone; or none. Who asks in vain pays for a load.
    std::optional<Bytes> take()
    {
        if (waiting_.load(std::memory_order_relaxed) == 0) { return std::nullopt; }
        const std::scoped_lock lock(mutex_); // orders what the writer did before
        std::optional<Bytes> first = std::move(letters_.front());
        letters_.pop_front();
        waiting_.store(letters_.size(), std::memory_order_relaxed);
        return first;
    }

private:
    std::atomic<std::size_t> waiting_ = 0; // written under the lock
    std::mutex mutex_;
    std::deque<Bytes> letters_;
};

} // namespace parhelion
