// SPDX-License-Identifier: Apache-2.0
// The drift of a series against closed forms.
#include "engine/slope.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace parhelion;

TEST(Slope, of_a_line_is_its_own_wherever_it_is)
{
    Slope slope;
    for (int k = 0; k < 1000; ++k) { slope.add(1e6 + 0.1 * k, -5e5 + 0.02 * k); }
    EXPECT_NEAR(slope.value(), 0.2, 1e-9);
}

TEST(Slope, is_that_of_least_squares)
{
    // Of t^2 at 0, 1, ..., n - 1 it is n - 1.
    Slope slope;
    constexpr int n = 11;
    for (int t = 0; t < n; ++t) { slope.add(t, t * t); }
    EXPECT_NEAR(slope.value(), n - 1, 1e-12);
}

TEST(Slope, has_the_standard_error_of_least_squares)
{
    // Of t^2 at 0, 1, ..., n - 1: what is left beside the line is a parabola with known moments.
    Slope slope, line;
    constexpr int n = 11;
    for (int t = 0; t < n; ++t) { slope.add(1e6 + t, 1e3 + t * t), line.add(t, 3 * t); }
    const double variance = n * (n * n - 1) / 12.0, beside_line = variance * (n * n - 4) / 15.0;
    EXPECT_NEAR(slope.error(), std::sqrt(beside_line / (n - 2) / variance), 1e-9);
    EXPECT_NEAR(line.error(), 0, 1e-9);
}

// Series of samples each of which has much of the one before: x += -x / memory + noise, no drift.
TEST(Slope, is_as_uncertain_as_it_scatters_among_series_with_a_memory)
{
    std::mt19937 engine(1);
    std::normal_distribution<double> noise;
    constexpr int series = 400, samples = 5000;
    constexpr double memory = 20;
    double scatter2 = 0, error2 = 0;
    for (int k = 0; k < series; ++k)
    {
        Slope slope;
        double x = 0;
        for (int t = -200; t < samples; ++t)
        {
            x += -x / memory + noise(engine);
            if (t >= 0) { slope.add(t, x); }
        }
        scatter2 += slope.value() * slope.value(), error2 += slope.error() * slope.error();
    }
    EXPECT_NEAR(std::sqrt(error2 / scatter2), 1, 0.12); // 0.16 if samples counted as independent
}

TEST(Slope, is_unknown_with_fewer_than_three_points)
{
    Slope slope;
    slope.add(0, 1);
    slope.add(1, 2);
    EXPECT_TRUE(std::isnan(slope.value()));
    EXPECT_TRUE(std::isnan(slope.error()));
    slope.add(2, 3);
    EXPECT_DOUBLE_EQ(slope.value(), 1);
}
