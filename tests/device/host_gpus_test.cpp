// SPDX-License-Identifier: Apache-2.0
// For which GPUs a program has code: NVIDIA's rules of compatibility, by compute capability.
#include "device/host_gpus.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

TEST(HostGpus, run_machine_code_of_their_major_number_and_no_later_minor_one)
{
    EXPECT_TRUE(runs_code_for("80-real,90-real", 8, 0));
    EXPECT_TRUE(runs_code_for("80-real,90-real", 8, 6));
    EXPECT_TRUE(runs_code_for("80-real,90-real", 8, 9));
    EXPECT_TRUE(runs_code_for("80-real,90-real", 9, 0));
    EXPECT_FALSE(runs_code_for("86-real", 8, 0));
    EXPECT_FALSE(runs_code_for("80-real,90-real", 7, 5));
    EXPECT_FALSE(runs_code_for("80-real,90-real", 10, 0));
}

TEST(HostGpus, run_whatever_the_driver_compiles_for_them)
{
    for (const char* text : {"100-virtual", "100", "80-real,90-real,100"})
    {
        EXPECT_TRUE(runs_code_for(text, 10, 0)) << text;
        EXPECT_TRUE(runs_code_for(text, 10, 3)) << text;
        EXPECT_TRUE(runs_code_for(text, 12, 0)) << text;
        EXPECT_FALSE(runs_code_for(text, 7, 5)) << text;
        EXPECT_FALSE(runs_code_for(text, 6, 1)) << text;
    }
    EXPECT_FALSE(runs_code_for("100-virtual", 9, 0));
}

TEST(HostGpus, are_not_refused_for_words_without_a_number)
{
    EXPECT_TRUE(runs_code_for("native", 6, 1));
    EXPECT_TRUE(runs_code_for("", 6, 1));
}
