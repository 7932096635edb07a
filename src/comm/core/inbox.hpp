// SPDX-License-Identifier: Apache-2.0
// The inbox of a rank: the letters that the rank has not read yet, in the order of their arrival.
#pragma once

#include "comm/core/bootstrap.hpp"

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
    // Removes and returns the oldest letter, or returns nothing if there is none. A call that finds no letter costs one load.
    std::optional<Bytes> take()
    {
        if (waiting_.load(std::memory_order_relaxed) == 0) { return std::nullopt; }
        const std::scoped_lock lock(mutex_); // also acquires what the letter's writer did before
        std::optional<Bytes> first = std::move(letters_.front());
        letters_.pop_front();
        waiting_.store(letters_.size(), std::memory_order_relaxed);
        return first;
    }

private:
    std::atomic<std::size_t> waiting_ = 0; // number of letters; written under the lock, read without it
    std::mutex mutex_;
    std::deque<Bytes> letters_;
};

} // namespace parhelion
