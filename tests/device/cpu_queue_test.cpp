// SPDX-License-Identifier: Apache-2.0
#include "device/cpu_queue.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>

using namespace parhelion;

TEST(CpuQueue, every_thread_runs_every_region_once)
{
    for (const int threads : {1, 2, 3, 4})
    {
        CpuQueue queue(threads);
        std::vector<int> count(static_cast<std::size_t>(threads), 0); // unsynchronised on purpose: regions order it
        for (int i = 0; i < 2000; ++i)
        {
            queue.run([&](int t) { ++count[static_cast<std::size_t>(t)]; });
        }
        EXPECT_EQ(std::accumulate(count.begin(), count.end(), 0), 2000 * threads);
    }
}

TEST(CpuQueue, ranges_cover_everything_once_at_every_size)
{
    CpuQueue queue(3);
    for (const std::size_t n : {0, 1, 7, 8, 9, 24, 31, 32, 33, 1000})
    {
        std::vector<int> seen(n, 0);
        queue.for_range(n, 8, [&](int, std::size_t begin, std::size_t end) {
            EXPECT_EQ(begin % 8, 0u);
            for (std::size_t i = begin; i < end; ++i) { ++seen[i]; }
        });
        for (const int s : seen) { EXPECT_EQ(s, 1); }
    }
}

TEST(CpuQueue, exceptions_reach_the_caller_and_leave_the_team_usable)
{
    CpuQueue queue(4);
    EXPECT_THROW(queue.run([](int t) {
        if (t == 2) { throw std::runtime_error("two"); }
    }),
                 std::runtime_error);
    int sum = 0;
    queue.run([&](int t) {
        if (t == 0) { sum = 1; }
    });
    EXPECT_EQ(sum, 1);
}
