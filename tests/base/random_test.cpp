// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace parhelion;

namespace {

struct Moments
{
    double n = 0, sum = 0, squares = 0, cubes = 0, fourths = 0;
    void add(double x)
    {
        ++n;
        sum += x;
        squares += x * x;
        cubes += x * x * x;
        fourths += x * x * x * x;
    }
    double mean() const { return sum / n; }
    double variance() const { return squares / n - mean() * mean(); }
};

} // namespace

TEST(Philox, gives_the_known_answers_of_its_authors)
{
    // Random123, kat_vectors: philox4x32 with 10 rounds.
    struct Answer
    {
        RandomBits counter;
        std::uint32_t key0, key1;
        RandomBits result;
    };
    const Answer answers[] = {
        {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
         0xffffffff,
         0xffffffff,
         {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         0xa4093822,
         0x299f31d0,
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (const Answer& answer : answers)
    {
        const RandomBits got = philox4x32(answer.counter, answer.key0, answer.key1);
        for (int i = 0; i < 4; ++i) { EXPECT_EQ(got.word[i], answer.result.word[i]); }
    }
}

TEST(RandomBits, differ_when_any_of_their_arguments_does)
{
    const auto same = [](const RandomBits& a, const RandomBits& b) { return std::memcmp(&a, &b, sizeof a) == 0; };
    const RandomBits bits = random_bits(1, RandomPurpose::Velocities, 2, 3, 4);
    EXPECT_TRUE(same(bits, random_bits(1, RandomPurpose::Velocities, 2, 3, 4)));
    EXPECT_FALSE(same(bits, random_bits(1 + (std::uint64_t{1} << 32), RandomPurpose::Velocities, 2, 3, 4)));
    EXPECT_FALSE(same(bits, random_bits(1, RandomPurpose::Barostat, 2, 3, 4)));
    EXPECT_FALSE(same(bits, random_bits(1, RandomPurpose::Velocities, 2 + (std::int64_t{1} << 40), 3, 4)));
    EXPECT_FALSE(same(bits, random_bits(1, RandomPurpose::Velocities, 2, 5, 4)));
    EXPECT_FALSE(same(bits, random_bits(1, RandomPurpose::Velocities, 2, 3, 5)));
}

TEST(NormalDeviates, agree_with_the_mathematical_library)
{
    for (const std::uint32_t a : {0u, 1u, 77u, 0x10000u, 0x7fffffffu, 0x80000000u, 0xb504f333u, 0xfffffffeu, 0xffffffffu})
    {
        for (const std::uint32_t b :
             {0u, 0x1fffffffu, 0x20000000u, 0x3fffffffu, 0x5a5a5a5au, 0x9fffffffu, 0xdfffffffu, 0xffffffffu})
        {
            const NormalDeviates n = normal_deviates({{a, b, a, b}});
            const double radius = std::sqrt(-2 * std::log(uniform(a))), angle = 2 * std::acos(-1.0) * uniform(b);
            EXPECT_NEAR(n.value[0], radius * std::cos(angle), 2e-15 * radius + 1e-22) << a << ' ' << b;
            EXPECT_NEAR(n.value[1], radius * std::sin(angle), 2e-15 * radius + 1e-22) << a << ' ' << b;
        }
    }
}

TEST(NormalDeviates, have_the_moments_of_the_normal_distribution)
{
    Moments m;
    double products = 0;
    constexpr int draws = 100000;
    for (std::uint32_t i = 0; i < draws; ++i)
    {
        const NormalDeviates n = normal_deviates(random_bits(42, RandomPurpose::StochasticDynamics, 17, i));
        for (const double x : n.value) { m.add(x); }
        products += n.value[0] * n.value[1] + n.value[2] * n.value[3] + n.value[0] * n.value[2];
    }
    // Four standard errors.
    EXPECT_NEAR(m.mean(), 0, 4 / std::sqrt(m.n));
    EXPECT_NEAR(m.variance(), 1, 4 * std::sqrt(2 / m.n));
    EXPECT_NEAR(m.cubes / m.n, 0, 4 * std::sqrt(15 / m.n));
    EXPECT_NEAR(m.fourths / m.n, 3, 4 * std::sqrt(96 / m.n));
    EXPECT_NEAR(products / draws, 0, 4 * std::sqrt(3.0 / draws));
}

TEST(RandomSequence, gives_sums_of_squares_with_the_moments_of_chi_squared)
{
    for (const double n : {1.0, 2.0, 3.0, 9.5, 5997.0})
    {
        Moments m;
        for (int i = 0; i < 40000; ++i) { m.add(RandomSequence(5, RandomPurpose::Thermostat, i, 0).next_sum_of_squares(n)); }
        EXPECT_NEAR(m.mean(), n, 4 * std::sqrt(2 * n / m.n)) << n;
        EXPECT_NEAR(m.variance(), 2 * n, 4 * 2 * n * std::sqrt((2 + 12 / n) / m.n)) << n; // kurtosis 3 + 12 / n
    }
    EXPECT_EQ(RandomSequence(5, RandomPurpose::Thermostat, 0, 0).next_sum_of_squares(0), 0);
}
