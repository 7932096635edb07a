// SPDX-License-Identifier: Apache-2.0
#include "engine/constraint_remark.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;

TEST(ConstraintRemark, says_how_far_bonds_were_off_and_nothing_where_the_promise_was_kept)
{
    RunSummary summary;
    for (const double kept : {0.0, 3e-8, 1e-6, 1000 * 1e-9}) // the last: as whole units of 1e-9 are added up
    {
        summary.constraint_deviation = kept;
        EXPECT_EQ(constraint_remark(summary), "");
    }
    summary.constraint_deviation = 3.1e-5;
    EXPECT_THAT(constraint_remark(summary), testing::AllOf(testing::StartsWith("W150 "), testing::HasSubstr("3.1e-05"),
                                                           testing::HasSubstr("1e-06 is promised")));
}
