// SPDX-License-Identifier: Apache-2.0
#include "device/cores.hpp"

#include <gtest/gtest.h>

#include <sched.h>

using namespace parhelion;

TEST(Cores, of_a_limit_are_rounded_up)
{
    EXPECT_EQ(cores_of_limit("200000 100000\n"), 2);
    EXPECT_EQ(cores_of_limit("150000 100000\n"), 2);
    EXPECT_EQ(cores_of_limit("1000 100000\n"), 1);
    EXPECT_EQ(cores_of_limit("6400000 100000\n"), 64);
}

TEST(Cores, without_a_limit_are_not_known)
{
    for (const char* text : {"max 100000\n", "", "\n", "200000", "200000 0", "-1 100000", "nan 1"})
    {
        EXPECT_EQ(cores_of_limit(text), std::nullopt) << text;
    }
}

TEST(Cores, that_are_available_are_no_more_than_those_of_the_affinity_mask)
{
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_GE(available_cores(), 1);
    EXPECT_LE(available_cores(), CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int core = 0; CPU_COUNT(&one) == 0; ++core)
    {
        if (CPU_ISSET(core, &before)) { CPU_SET(core, &one); }
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(available_cores(), 1);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}
