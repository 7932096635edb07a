// SPDX-License-Identifier: Apache-2.0
#include "io/output/block_averages.hpp"

#include "io/trajectory_samples.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace parhelion {
namespace {

// x(t+1) = a x(t) + noise of variance 1: the variance of the mean of n values is 1 / (n (1 - a)^2) for n >> 1 / (1 - a).
double error_of_process(double a, int values, std::uint64_t seed)
{
    samples::Random random(seed);
    BlockAverages blocks(1);
    double x = 0;
    for (int i = 0; i < values; ++i)
    {
        double noise = -6; // a sum of twelve uniform numbers: mean 0, variance 1
        for (int k = 0; k < 12; ++k) { noise += random.uniform(0, 1); }
        x = a * x + noise;
        blocks.add(std::vector<double>{x});
    }
    return blocks.error(0);
}

TEST(BlockAverages, estimates_the_error_of_correlated_values)
{
    constexpr int values = 20000, runs = 40;
    for (const double a : {0.0, 0.9, 0.98})
    {
        double mean_square = 0;
        for (int run = 0; run < runs; ++run)
        {
            const double error = error_of_process(a, values, static_cast<std::uint64_t>(run));
            mean_square += error * error / runs;
        }
        const double exact = 1 / (std::sqrt(values) * (1 - a));
        // The square of one estimate, from 16 to 31 blocks, is uncertain by up to 37 %; of forty, by 6 %.
        EXPECT_NEAR(mean_square / (exact * exact), 1, 0.2) << a;
    }
}

TEST(BlockAverages, keeps_from_16_to_31_blocks_and_loses_no_value)
{
    BlockAverages blocks(2);
    double sum = 0;
    for (int i = 1; i <= 5000; ++i)
    {
        blocks.add(std::vector<double>{static_cast<double>(i), 7});
        sum += i;
        if (i >= 32) { EXPECT_TRUE(blocks.blocks() >= 16 && blocks.blocks() < 32) << i; }
        EXPECT_EQ(static_cast<std::int64_t>(blocks.blocks()) * blocks.length() + blocks.data().in_block, i);
    }
    double kept = blocks.data().sums[0];
    for (std::size_t b = 0; b < blocks.blocks(); ++b)
    {
        kept += blocks.data().means[2 * b] * static_cast<double>(blocks.length());
    }
    EXPECT_EQ(kept, sum);
    EXPECT_LT(blocks.error(1), 1e-12); // the mean is a sum of rounded shares
}

TEST(BlockAverages, says_nothing_of_a_few_values)
{
    BlockAverages blocks(1);
    for (int i = 0; i < 7; ++i) { blocks.add(std::vector<double>{1.0 * i}); }
    EXPECT_TRUE(std::isnan(blocks.error(0)));
    blocks.add(std::vector<double>{7.0});
    EXPECT_NEAR(blocks.error(0), std::sqrt(6.0 / 8), 1e-12); // of 0 to 7: variance 6
}

TEST(BlockAverages, goes_on_from_its_data)
{
    samples::Random random(3);
    BlockAverages whole(1), first(1);
    std::vector<double> values(1000);
    for (double& value : values) { value = random.uniform(0, 1); }
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        whole.add(std::span(&values[i], 1));
        if (i < 333) { first.add(std::span(&values[i], 1)); }
    }
    BlockAverages second(first.data());
    for (std::size_t i = 333; i < values.size(); ++i) { second.add(std::span(&values[i], 1)); }
    EXPECT_EQ(second.error(0), whole.error(0));
}

} // namespace
} // namespace parhelion
