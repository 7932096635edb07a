// SPDX-License-Identifier: Apache-2.0
// What flags of a failed segment demand.
#include "engine/remedy.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

TEST(Remedy, of_a_segment_of_many_intervals_is_to_find_the_one_that_fails)
{
    for (const std::uint32_t flag : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 1u << 31})
    {
        EXPECT_EQ(remedy_for(flag, false, false), Remedy::RepeatByInterval) << flag;
    }
}

TEST(Remedy, of_an_interval_is_the_one_for_its_flag)
{
    for (const std::uint32_t overflow : {gpu_flag_list_overflow, gpu_flag_scratch_overflow, gpu_flag_slot_overflow})
    {
        EXPECT_EQ(remedy_for(overflow, true, false), Remedy::GrowCapacity) << overflow;
    }
    EXPECT_EQ(remedy_for(gpu_flag_list_stale, true, false), Remedy::NewerLists);
    EXPECT_EQ(remedy_for(gpu_flag_unstable_atom, true, false), Remedy::BlowUp);
    EXPECT_EQ(remedy_for(gpu_flag_missing_terms, true, false), Remedy::LongestTerm);
    EXPECT_EQ(remedy_for(gpu_flag_ambiguous, true, false), Remedy::RefuseGrid);
}

// What was computed with pairs missing may raise any other flag.
TEST(Remedy, of_several_flags_is_the_one_for_the_cause)
{
    EXPECT_EQ(remedy_for(gpu_flag_list_overflow | gpu_flag_list_stale | gpu_flag_unstable_atom, true, false),
              Remedy::GrowCapacity);
    EXPECT_EQ(remedy_for(gpu_flag_list_stale | gpu_flag_unstable_atom | gpu_flag_ambiguous, true, false), Remedy::NewerLists);
    EXPECT_EQ(remedy_for(gpu_flag_mesh_strayed | gpu_flag_unstable_atom, true, false), Remedy::NewerLists);
    EXPECT_EQ(remedy_for(gpu_flag_mesh_strayed | gpu_flag_unstable_atom, true, true), Remedy::BlowUp);
    EXPECT_EQ(remedy_for(gpu_flag_unstable_atom | gpu_flag_ambiguous | gpu_flag_missing_terms, true, false), Remedy::BlowUp);
    EXPECT_EQ(remedy_for(gpu_flag_ambiguous | gpu_flag_missing_terms, true, false), Remedy::RefuseGrid);
}
