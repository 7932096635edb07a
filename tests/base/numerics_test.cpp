// SPDX-License-Identifier: Apache-2.0
// Sums of forces and energies: fixed-point sums must not depend on the order, must be exact to their resolution, and must stay
// large when a contribution is absurd.
#include "base/numerics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace parhelion {
namespace {

const double resolution = std::ldexp(1.0, -32);

std::vector<double> forces_of_mixed_size(std::size_t n)
{
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-6, 5), sign(-1, 1);
    std::vector<double> forces(n);
    for (double& f : forces) { f = std::copysign(std::pow(10.0, exponent(random)), sign(random)); }
    return forces;
}

template <class Sum>
Sum total(const std::vector<double>& values)
{
    Sum sum = 0;
    for (const double value : values) { sum += to_sum<Sum>(value); }
    return sum;
}

TEST(FixedSum, does_not_depend_on_the_order_of_its_terms)
{
    std::vector<double> forces = forces_of_mixed_size(10'000);
    const auto fixed = total<std::int64_t>(forces);
    const auto plain = total<double>(forces);
    bool plain_ever_differs = false;
    std::mt19937_64 random(2);
    for (int shuffle = 0; shuffle < 20; ++shuffle)
    {
        std::shuffle(forces.begin(), forces.end(), random);
        EXPECT_EQ(total<std::int64_t>(forces), fixed);
        plain_ever_differs |= total<double>(forces) != plain;
    }
    EXPECT_TRUE(plain_ever_differs) << "these forces would not tell a fixed sum from a plain one";
}

TEST(FixedSum, rounds_each_term_to_the_nearest_multiple_of_its_resolution)
{
    for (const double force : forces_of_mixed_size(1000))
    {
        EXPECT_LE(std::abs(from_sum(to_sum<std::int64_t>(force)) - force), resolution / 2) << force;
    }
    EXPECT_EQ(to_sum<std::int64_t>(resolution), 1);
    EXPECT_EQ(to_sum<std::int64_t>(-3 * resolution), -3);
    EXPECT_EQ(from_sum(to_sum<std::int64_t>(0.0)), 0.0);
}

TEST(FixedSum, of_opposite_terms_is_exactly_zero)
{
    std::int64_t sum = 0;
    for (const double force : forces_of_mixed_size(1000)) { sum += to_sum<std::int64_t>(force) + to_sum<std::int64_t>(-force); }
    EXPECT_EQ(sum, 0);
}

TEST(FixedSum, saturates_instead_of_wrapping)
{
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double absurd : {fixed_sum_limit, 3e9, 1e20, 1e300, infinity})
    {
        EXPECT_EQ(from_sum(to_sum<std::int64_t>(absurd)), fixed_sum_limit) << absurd;
        EXPECT_EQ(from_sum(to_sum<std::int64_t>(-absurd)), -fixed_sum_limit) << absurd;
    }
    EXPECT_EQ(std::abs(from_sum(to_sum<std::int64_t>(std::numeric_limits<double>::quiet_NaN()))), fixed_sum_limit);
}

TEST(FixedSum, keeps_terms_just_inside_the_range)
{
    const double large = std::nextafter(fixed_sum_limit, 0.0);
    EXPECT_NEAR(from_sum(to_sum<std::int64_t>(large)), large, resolution);
    EXPECT_NEAR(from_sum(to_sum<std::int64_t>(-large)), -large, resolution);
}

TEST(PlainSum, passes_values_through)
{
    EXPECT_EQ(to_sum<double>(0.1), 0.1);
    EXPECT_EQ(to_sum<float>(0.1), 0.1f);
    EXPECT_EQ(from_sum(0.1f), static_cast<double>(0.1f));
    EXPECT_TRUE(std::isnan(to_sum<double>(std::numeric_limits<double>::quiet_NaN())));
}

// The four policies differ in two independent choices, and nothing else.
template <class N>
constexpr bool is_consistent()
{
    constexpr bool mixed = N::precision == Precision::Mixed, reproducible = N::summation == Summation::Reproducible;
    return std::is_same_v<typename N::Real, std::conditional_t<mixed, float, double>> && //
           std::is_same_v<typename N::Fixed, std::conditional_t<mixed, std::uint32_t, std::uint64_t>> &&
           std::is_same_v<typename N::ForceSum, std::conditional_t<reproducible, std::int64_t, typename N::Real>> &&
           std::is_same_v<ScalarSum<N>, std::conditional_t<reproducible, std::int64_t, double>>;
}
#define PARHELION_ASSERT_CONSISTENT(N) static_assert(is_consistent<N>(), #N);
PARHELION_FOR_EACH_NUMERICS(PARHELION_ASSERT_CONSISTENT)

} // namespace
} // namespace parhelion
