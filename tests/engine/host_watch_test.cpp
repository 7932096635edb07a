// SPDX-License-Identifier: Apache-2.0
#include "engine/host_watch.hpp"

#include "device/cores.hpp"
#include "engine/deadline_pause.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace std::chrono_literals;

namespace {

class HostWatchTest : public ::testing::Test
{
protected:
    bool told_within(std::chrono::nanoseconds time) const
    {
        for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
        {
            if (told > 0) { return true; }
            std::this_thread::sleep_for(1ms);
        }
        return false;
    }

    std::atomic<int> told{0};
};

class SlowObserver : public Observer
{
public:
    void progress(std::int64_t, std::int64_t, double) override { std::this_thread::sleep_for(1500ms); }
};

} // namespace

TEST_F(HostWatchTest, tells_once_of_a_host_that_does_not_come_back)
{
    HostWatch watch(100ms, [this] { ++told; });
    const AmongGpus host(&watch);
    EXPECT_TRUE(told_within(10s));
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(told, 1);
}

TEST_F(HostWatchTest, does_so_also_after_the_host_has_been_with_an_observer)
{
    HostWatch watch(100ms, [this] { ++told; });
    const AmongGpus host(&watch);
    Observer nobody;
    PausingObserver(watch, nobody).progress(1, 2, 300);
    EXPECT_TRUE(told_within(10s));
}

TEST_F(HostWatchTest, gets_a_core_that_no_compute_thread_uses)
{
    if (available_cores() < 2) { GTEST_SKIP() << "needs two cores"; }
    const HostWatch watch(10s, [this] { ++told; });
    const CoresForHelpers cores(1);
    ASSERT_EQ(cores.places().size(), 1);
    EXPECT_EQ(cores.places()[0].name, "watch on the host");
    EXPECT_GE(cores.places()[0].core, 0);
}

TEST_F(HostWatchTest, says_nothing_of_many_calls_that_end)
{
    HostWatch watch(500ms, [this] { ++told; });
    for (int i = 0; i < 1500; ++i)
    {
        const AmongGpus host(&watch);
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(told, 0);
}

TEST_F(HostWatchTest, says_nothing_of_a_host_that_is_elsewhere)
{
    HostWatch watch(500ms, [this] { ++told; });
    {
        const AmongGpus host(&watch);
    }
    EXPECT_FALSE(told_within(1500ms));
    const AmongGpus host(&watch);
    SlowObserver slow;
    PausingObserver(watch, slow).progress(1, 2, 300);
    EXPECT_EQ(told, 0);
}

TEST_F(HostWatchTest, says_nothing_of_a_host_that_works_itself)
{
    HostWatch watch(500ms, [this] { ++told; });
    const AmongGpus host(&watch);
    const WatchPause explanation(&watch);
    SlowObserver slow;
    PausingObserver(watch, slow).progress(1, 2, 300); // of a CPU that goes on by itself
    EXPECT_FALSE(told_within(1500ms));
}

TEST_F(HostWatchTest, tells_of_a_host_that_does_not_come_back_after_work_of_its_own)
{
    HostWatch watch(100ms, [this] { ++told; });
    const AmongGpus host(&watch);
    try
    {
        const WatchPause explanation(&watch);
        const WatchPause of_it(&watch);
        throw 1;
    }
    catch (int)
    {
    }
    EXPECT_TRUE(told_within(10s));
}
