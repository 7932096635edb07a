// SPDX-License-Identifier: Apache-2.0
// The queue of the CPU: a team of threads that runs one parallel region after another. A queue is the first parameter
// of every compute function, and the type of the queue selects the backend.
//
// Why not OpenMP: ranks are threads of one process, each with its own team, and the program must be clean under
// ThreadSanitizer, which does not understand libgomp's barriers. Between regions the threads spin briefly, then sleep.
#pragma once

#include "device/phase_clock.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace parhelion {

class CpuQueue
{
public:
    explicit CpuQueue(int threads); // throws SystemError if a thread cannot be started
    ~CpuQueue();
    CpuQueue(const CpuQueue&) = delete;
    CpuQueue& operator=(const CpuQueue&) = delete;

    int threads() const { return threads_; }
    // The clock of this queue. A compute function adds its time to one phase: ScopedPhase span(queue.clock(), Phase::Bonded).
    PhaseClock& clock() { return clock_; }
    const PhaseClock& clock() const { return clock_; }

    // Runs body(thread) on every thread of the team and returns when all are done. The caller is thread 0. If bodies
    // throw, the exception of the lowest thread is rethrown here. Not reentrant.
    template <class Body>
    void run(Body&& body)
    {
        if (threads_ == 1)
        {
            body(0);
            return;
        }
        run_team(std::function<void(int)>(std::ref(body)));
    }

    // Runs body(thread, begin, end) over a static partition of [0, n). Each thread gets one contiguous range, and
    // boundaries are multiples of `grain`.
    template <class Body>
    void for_range(std::size_t n, std::size_t grain, Body&& body)
    {
        run([&](int thread) {
            const auto [begin, end] = range(n, grain, thread);
            if (begin < end) { body(thread, begin, end); }
        });
    }
    std::pair<std::size_t, std::size_t> range(std::size_t n, std::size_t grain, int thread) const
    {
        const std::size_t blocks = (n + grain - 1) / grain;
        const auto cut = [&](int t) {
            return std::min(n, blocks * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads_) * grain);
        };
        return {cut(thread), cut(thread + 1)};
    }

private:
    void run_team(std::function<void(int)> body);
    void work(int thread);
    void stop();

    const int threads_;
    PhaseClock clock_;
    std::function<void(int)> body_;
    std::vector<std::exception_ptr> errors_;
    std::atomic<std::uint32_t> generation_{0}; // the caller raises it (release) to start a region; workers acquire it
    std::atomic<std::uint32_t> running_{0};    // workers still in the region; each one decrements it (release), caller acquires 0
    std::atomic<bool> stop_{false};
    std::vector<std::thread> workers_;
};

} // namespace parhelion
