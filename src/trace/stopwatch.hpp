// SPDX-License-Identifier: Apache-2.0
// Measures wall time, and the time that all threads of this process spend on processors, since its construction.
// Their quotient is the load of the host. Cost: two system calls.
#pragma once

#include <chrono>

#include <sys/resource.h>

namespace parhelion {

class Stopwatch
{
public:
    double wall_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    double cpu_s() const { return process_s() - cpu_start_; }
    double load() const { return cpu_s() / wall_s(); } // 1 if one core is busy all the time

private:
    using Clock = std::chrono::steady_clock;

    static double process_s()
    {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        const auto seconds = [](const timeval& t) {
            return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
        };
        return seconds(used.ru_utime) + seconds(used.ru_stime);
    }

    Clock::time_point start_ = Clock::now();
    double cpu_start_ = process_s();
};

} // namespace parhelion
