// SPDX-License-Identifier: Apache-2.0
// Random numbers without state: each number is a function of (seed, purpose, step, index, draw).
//
// The idea: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11, doi 10.1145/2063384.2063405) turns a 64-bit key and a 128-bit
// counter into 128 random bits. The key is the run's seed; the counter has the step and the global atom. An atom thus draws the
// same numbers on any thread, rank or device, and a restart needs only the step. Normal deviates use only + - * / and sqrt, which
// IEEE 754 defines to the last bit, so they are the same everywhere, too. Cost: about 10 multiplications per 32 random bits;
// 15 ns for four normal deviates.
#pragma once

#include "base/units.hpp"
#include "base/vec3.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace parhelion {

struct RandomBits
{
    std::uint32_t word[4];
};

// Returns the Philox bijection of a counter and a key, which are the arrays of the paper.
PARHELION_HD inline RandomBits philox4x32(RandomBits counter, std::uint32_t key0, std::uint32_t key1)
{
    for (int round = 0; round < 10; ++round)
    {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53} * counter.word[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * counter.word[2];
        counter = {{static_cast<std::uint32_t>(p1 >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(p1),
                    static_cast<std::uint32_t>(p0 >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(p0)}};
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
    return counter;
}

// The purpose of a random number. Different purposes never share a counter.
enum class RandomPurpose : std::uint8_t
{
    Velocities,
    StochasticDynamics,
    Thermostat,
    Barostat,
};

// Returns 128 random bits. 0 <= step < 2^56. index: a global atom, a temperature group, ...; draw: counts calls for one index.
PARHELION_HD inline RandomBits random_bits(std::uint64_t seed, RandomPurpose purpose, std::int64_t step, std::uint32_t index,
                                           std::uint32_t draw = 0)
{
    const auto s = static_cast<std::uint64_t>(step);
    const RandomBits counter{{draw, index, static_cast<std::uint32_t>(s),
                              static_cast<std::uint32_t>(s >> 32) | static_cast<std::uint32_t>(purpose) << 24}};
    return philox4x32(counter, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

// Returns a number in (0, 1), both ends excluded, with a spacing of 2^-32.
PARHELION_HD inline double uniform(std::uint32_t bits) { return (static_cast<double>(bits) + 0.5) * (1.0 / 4294967296.0); }

namespace random_detail {

PARHELION_HD constexpr double power_series(double, double c) { return c; }
// Returns c0 + c1 z + c2 z^2 + ...
template <class... Coefficients>
PARHELION_HD constexpr double power_series(double z, double c0, double c1, Coefficients... c)
{
    return c0 + z * power_series(z, c1, c...);
}

// Returns ln(u) for u in (0, 1), from u = m 2^-k with m in [1/sqrt 2, sqrt 2) and ln m = 2 artanh((m - 1) / (m + 1)).
PARHELION_HD inline double log_unit(double u)
{
    constexpr std::uint64_t exponent_of_half = std::uint64_t{1022} << 52, fraction = (std::uint64_t{1} << 52) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(u);
    const double half_to_one = std::bit_cast<double>((bits & fraction) | exponent_of_half);
    const bool is_small = half_to_one < 0.70710678118654752;
    const int k = 1022 - static_cast<int>(bits >> 52) + (is_small ? 1 : 0);
    const double m = is_small ? 2 * half_to_one : half_to_one;
    const double s = (m - 1) / (m + 1);
    return 2 * s *
               power_series(s * s, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19,
                            1.0 / 21) -
           k * 0.69314718055994530942;
}

// Computes cos and sin of 2 pi u for u in (0, 1) by the Taylor series of the angle from the nearest quarter turn, at most pi / 4.
PARHELION_HD inline void cos_sin_turn(double u, double& c, double& s)
{
    const int quarter = static_cast<int>(4 * u + 0.5);
    const double a = (u - 0.25 * quarter) * (2 * units::pi);
    const double z = a * a;
    const double cosine = power_series(z, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                       -1.0 / 87178291200, 1.0 / 20922789888000);
    const double sine = a * power_series(z, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                         1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000);
    const bool is_odd = (quarter & 1) != 0;
    c = is_odd ? sine : cosine;
    s = is_odd ? cosine : sine;
    c = ((quarter + 1) & 2) != 0 ? -c : c;
    s = (quarter & 2) != 0 ? -s : s;
}

} // namespace random_detail

struct NormalDeviates
{
    double value[4];
};

// Returns four independent normal deviates of mean 0 and variance 1 (Box and Muller 1958). None exceeds 6.8 in magnitude.
PARHELION_HD inline NormalDeviates normal_deviates(const RandomBits& bits)
{
    NormalDeviates n;
    for (int pair = 0; pair < 2; ++pair)
    {
        const double radius = std::sqrt(-2 * random_detail::log_unit(uniform(bits.word[2 * pair])));
        double c, s;
        random_detail::cos_sin_turn(uniform(bits.word[2 * pair + 1]), c, s);
        n.value[2 * pair] = radius * c;
        n.value[2 * pair + 1] = radius * s;
    }
    return n;
}

// A sequence of deviates for one (purpose, step, index), for algorithms that need a number of deviates not known before.
class RandomSequence
{
public:
    PARHELION_HD RandomSequence(std::uint64_t seed, RandomPurpose purpose, std::int64_t step, std::uint32_t index)
        : seed_(seed), purpose_(purpose), step_(step), index_(index)
    {
    }
    PARHELION_HD double next_uniform() { return uniform(next().word[0]); }
    PARHELION_HD double next_normal() { return normal_deviates(next()).value[0]; }
    // Returns a gamma deviate of unit scale and of shape >= 1/2 (Marsaglia and Tsang, ACM TOMS 26, 363, 2000).
    PARHELION_HD double next_gamma(double shape)
    {
        // For a shape below 1 the method uses shape + 1 and a power of a uniform deviate.
        if (shape < 1)
        {
            const double u = next_uniform();
            return next_gamma(shape + 1) * std::pow(u, 1 / shape);
        }
        const double d = shape - 1.0 / 3;
        const double c = 1 / std::sqrt(9 * d);
        for (;;)
        {
            const double x = next_normal();
            const double root = 1 + c * x;
            if (root <= 0) { continue; }
            const double v = root * root * root;
            if (std::log(next_uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) { return d * v; }
        }
    }
    // Returns the sum of the squares of n independent normal deviates, 0 for n <= 0. n need not be an integer.
    PARHELION_HD double next_sum_of_squares(double n) { return n > 0 ? 2 * next_gamma(0.5 * n) : 0; }

private:
    PARHELION_HD RandomBits next() { return random_bits(seed_, purpose_, step_, index_, draw_++); }

    std::uint64_t seed_;
    RandomPurpose purpose_;
    std::int64_t step_;
    std::uint32_t index_;
    std::uint32_t draw_ = 0;
};

} // namespace parhelion
