// SPDX-License-Identifier: Apache-2.0
#include "device/helper_threads.hpp"

#include "device/cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <sched.h>

using namespace parhelion;

namespace {

using Cores = std::vector<int>;

Cores own_cores()
{
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    Cores cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
    {
        if (CPU_ISSET(core, &set)) { cores.push_back(core); }
    }
    return cores;
}

// A helper that says where it is when it is asked.
class Asked
{
public:
    Asked(const char* name, HelperNeeds needs) : thread(name, needs)
    {
        thread.start([this] { answer.set_value((go.get_future().wait(), own_cores())); });
    }
    Cores cores()
    {
        go.set_value();
        return answer.get_future().get();
    }

    std::promise<void> go;
    std::promise<Cores> answer;
    HelperThread thread;
};

const Cores four = {4, 5, 9, 11};

} // namespace

TEST(HelperThreads, get_the_last_cores_if_enough_are_left)
{
    const CoreShares shares = share_cores(four, 4, 2, 2, 0, 1);
    EXPECT_EQ(shares.compute, (Cores{4, 5}));
    EXPECT_EQ(shares.helpers, (Cores{9, 11}));
    EXPECT_TRUE(shares.are_distinct);
    EXPECT_EQ(share_cores(four, 4, 1, 1, 0, 1).compute, (Cores{4, 5, 9})) << "no more is taken than is wanted";
}

TEST(HelperThreads, get_none_if_none_is_left)
{
    for (const int compute : {4, 9})
    {
        const CoreShares shares = share_cores(four, 4, compute, 1, 0, 1);
        EXPECT_EQ(shares.compute, four);
        EXPECT_TRUE(shares.helpers.empty());
    }
    EXPECT_TRUE(share_cores(four, 2, 2, 1, 0, 1).helpers.empty()) << "of a process that may use two cores' time";
}

TEST(HelperThreads, share_what_is_left_if_it_is_too_little)
{
    const CoreShares shares = share_cores(four, 4, 3, 2, 0, 1);
    EXPECT_EQ(shares.compute, (Cores{4, 5, 9}));
    EXPECT_EQ(shares.helpers, (Cores{11, 11}));
    EXPECT_FALSE(shares.are_distinct);
}

TEST(HelperThreads, of_all_processes_stay_off_the_compute_threads_of_all)
{
    const CoreShares first = share_cores(four, 4, 2, 1, 0, 2), second = share_cores(four, 4, 2, 1, 1, 2);
    EXPECT_EQ(first.compute, (Cores{4, 5}));
    EXPECT_EQ(second.compute, (Cores{4, 5}));
    EXPECT_EQ(first.helpers, (Cores{9}));
    EXPECT_EQ(second.helpers, (Cores{11}));
}

TEST(HelperThreads, change_nothing_if_there_are_none)
{
    const Cores before = own_cores();
    const CoresForHelpers cores(1);
    EXPECT_TRUE(cores.places().empty());
    EXPECT_EQ(own_cores(), before);
}

TEST(HelperThreads, are_where_no_compute_thread_is)
{
    const Cores before = own_cores();
    if (available_cores() < 2 || available_cores() < static_cast<int>(before.size())) { GTEST_SKIP() << "needs two cores"; }
    {
        Asked sleeper("sleeper", HelperNeeds::Turns), proxy("proxy", HelperNeeds::Core);
        const CoresForHelpers cores(1);
        const bool are_three = before.size() > 2;
        ASSERT_EQ(cores.places().size(), 2);
        EXPECT_EQ(cores.places()[0].name, "proxy");
        EXPECT_EQ(cores.places()[0].is_alone, are_three);
        EXPECT_EQ(proxy.thread.has_own_core(), are_three);
        std::promise<Cores> compute;
        std::thread([&] { compute.set_value(own_cores()); }).join();
        const Cores of_compute = compute.get_future().get();
        EXPECT_EQ(of_compute.size(), before.size() - (are_three ? 2 : 1));
        EXPECT_EQ(proxy.cores(), Cores{cores.places()[0].core});
        EXPECT_EQ(sleeper.cores(), Cores{cores.places()[1].core});
        for (const HelperPlace& place : cores.places())
        {
            EXPECT_EQ(std::count(of_compute.begin(), of_compute.end(), place.core), 0);
        }
    }
    EXPECT_EQ(own_cores(), before);
}

TEST(HelperThreads, without_a_core_are_with_the_compute_threads)
{
    const Cores before = own_cores();
    Asked proxy("proxy of node 3", HelperNeeds::Core);
    const CoresForHelpers cores(available_cores());
    ASSERT_EQ(cores.places().size(), 1);
    EXPECT_EQ(helpers_text(cores.places()), "proxy of node 3 with the compute threads");
    EXPECT_FALSE(proxy.thread.has_own_core());
    EXPECT_EQ(proxy.cores(), before);
    EXPECT_EQ(own_cores(), before);
}

TEST(HelperThreads, that_start_later_get_a_core_when_cores_are_shared_again)
{
    const Cores before = own_cores();
    if (available_cores() < 2 || available_cores() < static_cast<int>(before.size())) { GTEST_SKIP() << "needs two cores"; }
    {
        CoresForHelpers cores(1);
        Asked late("late", HelperNeeds::Turns);
        cores.share_again();
        ASSERT_EQ(cores.places().size(), 1);
        EXPECT_EQ(cores.places()[0].core, before.back());
        EXPECT_EQ(own_cores(), Cores(before.begin(), before.end() - 1));
        cores.share_again();
        EXPECT_EQ(own_cores(), Cores(before.begin(), before.end() - 1)) << "no core is lost by sharing once more";
        EXPECT_EQ(late.cores(), Cores{before.back()});
    }
    EXPECT_EQ(own_cores(), before);
}

TEST(HelperThreads, that_have_ended_take_no_core)
{
    {
        Asked("gone", HelperNeeds::Core).cores();
    }
    EXPECT_TRUE(CoresForHelpers(1).places().empty());
}

TEST(HelperThreads, are_told_of_with_their_cores)
{
    EXPECT_EQ(helpers_text({{"proxy", HelperNeeds::Core, 14, true}, {"rendezvous", HelperNeeds::Turns, 15, true}}),
              "proxy on core 14, rendezvous on core 15");
    EXPECT_EQ(helpers_text({}), "");
}
