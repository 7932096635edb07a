// SPDX-License-Identifier: Apache-2.0
#include "run/force_trend.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace parhelion {
namespace {

TEST(ForceTrend, knows_the_steps_left_of_a_force_that_falls_by_equal_factors)
{
    ForceTrend trend(10);
    EXPECT_FALSE(trend.steps_left());
    for (int step = 100; step <= 500; step += 2) // falls to 1e-3 in 600 steps
    {
        const double wave = step % 10 == 0 ? 1 : 3; // and is higher at most points
        trend.add(step, wave * 1e4 * std::pow(10, -0.005 * (step - 100)));
        if (step >= 300) { EXPECT_NEAR(trend.steps_left().value(), 700 - step, 45); }
    }
}

TEST(ForceTrend, forgets_the_fast_steps_at_the_beginning)
{
    ForceTrend trend(1);
    for (int step = 0; step <= 20; ++step) { trend.add(step, 1e12 * std::pow(10, -0.5 * step)); }
    for (int step = 21; step <= 400; ++step) { trend.add(step, 100 * std::pow(10, -0.002 * (step - 20))); }
    EXPECT_NEAR(trend.steps_left().value(), 1020 - 400, 10);
}

TEST(ForceTrend, knows_nothing_of_a_force_that_does_not_fall_and_nothing_is_left_at_the_tolerance)
{
    ForceTrend trend(10);
    trend.add(0, 1000);
    EXPECT_FALSE(trend.steps_left());
    for (int step = 1; step < 50; ++step) { trend.add(step, 500 + step); }
    EXPECT_FALSE(trend.steps_left());
    trend.add(60, 10);
    EXPECT_EQ(trend.steps_left(), 0);
}

} // namespace
} // namespace parhelion
