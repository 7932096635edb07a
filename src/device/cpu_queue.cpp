// SPDX-License-Identifier: Apache-2.0
#include "device/cpu_queue.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <system_error>
#include <utility>

namespace parhelion {

namespace {
constexpr int spins_before_sleep =
    4000; // about 20 us: longer than the gap between two regions of a step, shorter than a time slice

inline void pause()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Returns the value of `word` when it differs from `seen`. Spins first, then sleeps until `word` is notified.
std::uint32_t wait_while(std::atomic<std::uint32_t>& word, std::uint32_t seen)
{
    for (int i = 0; i < spins_before_sleep; ++i)
    {
        const std::uint32_t now = word.load(std::memory_order_acquire);
        if (now != seen) { return now; }
        pause();
    }
    word.wait(seen, std::memory_order_acquire);
    return word.load(std::memory_order_acquire);
}
} // namespace

CpuQueue::CpuQueue(int threads) : threads_(threads), errors_(static_cast<std::size_t>(threads))
{
    PARHELION_EXPECTS(threads >= 1);
    try
    {
        for (int t = 1; t < threads; ++t)
        {
            workers_.emplace_back([this, t] { work(t); });
        }
    }
    catch (const std::system_error& error)
    {
        stop(); // join the threads that have started
        throw SystemError(fmt::format("Only {} of {} threads could be started: {}.", workers_.size() + 1, threads, error.what()));
    }
}

CpuQueue::~CpuQueue() { stop(); }

void CpuQueue::stop()
{
    stop_.store(true, std::memory_order_relaxed); // published by the release in the next line
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    for (std::thread& worker : workers_) { worker.join(); }
}

void CpuQueue::run_team(std::function<void(int)> body)
{
    body_ = std::move(body);
    running_.store(static_cast<std::uint32_t>(threads_ - 1), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release); // publishes body_ and running_
    generation_.notify_all();
    try
    {
        body_(0);
    }
    catch (...)
    {
        errors_[0] = std::current_exception();
    }
    for (std::uint32_t left = running_.load(std::memory_order_acquire); left != 0; left = wait_while(running_, left)) {}
    for (std::exception_ptr& error : errors_)
    {
        if (error)
        {
            const std::exception_ptr first = error;
            for (std::exception_ptr& e : errors_) { e = nullptr; }
            std::rethrow_exception(first);
        }
    }
}

void CpuQueue::work(int thread)
{
    for (std::uint32_t seen = 0;;)
    {
        seen = wait_while(generation_, seen);
        if (stop_.load(std::memory_order_relaxed)) { return; }
        try
        {
            body_(thread);
        }
        catch (...)
        {
            errors_[static_cast<std::size_t>(thread)] = std::current_exception();
        }
        if (running_.fetch_sub(1, std::memory_order_release) == 1) { running_.notify_all(); }
    }
}

} // namespace parhelion
