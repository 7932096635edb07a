// SPDX-License-Identifier: Apache-2.0
#include "engine/drift_remark.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <limits>

using namespace parhelion;

namespace {

std::string remark_on(double drift, double error, std::int64_t steps)
{
    RunSummary summary;
    summary.drift = drift;
    summary.drift_error = error;
    summary.steps = steps;
    return drift_remark(summary, 0.002);
}

} // namespace

TEST(DriftRemark, warns_of_a_drift_that_is_large_certain_and_noticeable)
{
    EXPECT_THAT(remark_on(2.8, 0.4, 10000), ::testing::HasSubstr("drifts by +2.800 +- 0.400 kT/ns/atom"));
    EXPECT_NE(remark_on(-2.8, 0.4, 10000), "") << "a loss is as bad as a gain";
}

TEST(DriftRemark, is_empty_where_one_of_these_is_missing)
{
    EXPECT_EQ(remark_on(0.9, 0.01, 1000000), "") << "not large";
    EXPECT_EQ(remark_on(2.8, 0.8, 10000), "") << "not certain";
    EXPECT_EQ(remark_on(2.8, 0.4, 1000), "") << "0.0056 kT/atom: not noticeable";
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(remark_on(none, none, 10), "") << "a short run has no drift";
}
