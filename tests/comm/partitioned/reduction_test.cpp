// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits against their definitions: value = (-1)^s 2^(e - bias) (1 + m), rounded to nearest, ties to even.
#include "comm/partitioned/reduction_cpu.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

using namespace parhelion;

namespace {

// The value of finite bits, from the definition of the format.
double value_of(std::uint32_t bits, int mantissa_bits, int bias)
{
    const int exponent_bits = 15 - mantissa_bits;
    const std::uint32_t mantissa = bits & ((1U << mantissa_bits) - 1);
    const int exponent = static_cast<int>(bits >> mantissa_bits & ((1U << exponent_bits) - 1));
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 0) { return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits); }
    return sign * std::ldexp(mantissa + (1U << mantissa_bits), exponent - bias - mantissa_bits);
}

template <class T>
struct Format;
template <>
struct Format<Half>
{
    static constexpr int mantissa_bits = 10, bias = 15;
    static constexpr std::uint16_t infinity = 0x7C00;
    static Half narrowed(float x) { return as_half(x); }
};
template <>
struct Format<Bfloat16>
{
    static constexpr int mantissa_bits = 7, bias = 127;
    static constexpr std::uint16_t infinity = 0x7F80;
    static Bfloat16 narrowed(float x) { return as_bfloat16(x); }
};

template <class T>
class ShortNumbers : public testing::Test
{
};
using ShortTypes = testing::Types<Half, Bfloat16>;
TYPED_TEST_SUITE(ShortNumbers, ShortTypes);

} // namespace

TYPED_TEST(ShortNumbers, widen_to_their_value_and_narrow_back)
{
    using F = Format<TypeParam>;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    {
        const TypeParam number{static_cast<std::uint16_t>(bits)};
        const std::uint32_t magnitude = bits & 0x7FFF;
        if (magnitude > F::infinity)
        {
            EXPECT_TRUE(std::isnan(as_float(number)));
            EXPECT_GT(F::narrowed(as_float(number)).bits & 0x7FFF, F::infinity);
            continue;
        }
        const double expected = magnitude == F::infinity ? std::copysign(INFINITY, (bits & 0x8000) != 0 ? -1.0 : 1.0)
                                                         : value_of(bits, F::mantissa_bits, F::bias);
        EXPECT_EQ(static_cast<double>(as_float(number)), expected) << bits;
        EXPECT_EQ(F::narrowed(as_float(number)).bits, bits);
    }
}

// Between two neighbours: their middle and the floats beside it. The greatest one's neighbour is where infinity would be.
TYPED_TEST(ShortNumbers, narrow_to_the_nearest_and_ties_to_even)
{
    using F = Format<TypeParam>;
    for (std::uint32_t bits = 0; bits < F::infinity; ++bits)
    {
        const double below = value_of(bits, F::mantissa_bits, F::bias), above = value_of(bits + 1, F::mantissa_bits, F::bias);
        const auto middle = static_cast<float>((below + above) / 2);
        ASSERT_EQ(static_cast<double>(middle), (below + above) / 2);
        const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
        for (const std::uint32_t sign : {0U, 0x8000U})
        {
            const float direction = sign == 0 ? 1.0F : -1.0F;
            EXPECT_EQ(F::narrowed(direction * middle).bits, even | sign) << bits;
            EXPECT_EQ(F::narrowed(direction * std::nextafter(middle, 0.0F)).bits, bits | sign) << bits;
            EXPECT_EQ(F::narrowed(direction * std::nextafter(middle, INFINITY)).bits, (bits + 1) | sign) << bits;
        }
    }
}

TYPED_TEST(ShortNumbers, are_combined_as_floats_and_rounded_once)
{
    using F = Format<TypeParam>;
    std::mt19937 random(1);
    const auto number = [&] {
        return F::narrowed(std::ldexp(static_cast<float>(random() % 4096) - 2048, static_cast<int>(random() % 8) - 4));
    };
    for (const std::size_t n : {1, 7, 8, 9, 100})
    {
        for (const std::size_t shift : {0, 1})
        {
            alignas(16) std::array<std::array<TypeParam, 128>, 3> terms;
            alignas(16) std::array<TypeParam, 128> sums;
            for (auto& of_rank : terms)
            {
                for (TypeParam& x : of_rank) { x = number(); }
            }
            const TypeParam* const from[] = {terms[0].data() + shift, terms[1].data() + shift, terms[2].data() + shift};
            TypeParam* const to[] = {sums.data() + shift};
            combine_terms<TypeParam, Reduction::Sum>(from, 3, to, 1, n, 0, 1);
            for (std::size_t i = shift; i < shift + n; ++i)
            {
                const float expected = (as_float(terms[0][i]) + as_float(terms[1][i])) + as_float(terms[2][i]);
                EXPECT_EQ(sums[i].bits, F::narrowed(expected).bits) << n << " " << i;
            }
        }
    }
}

TEST(Terms, that_are_alone_are_copied_bit_by_bit)
{
    alignas(16) std::array<float, 9> from, to{};
    for (std::size_t i = 0; i < from.size(); ++i) { from[i] = std::bit_cast<float>(0x7F800001U + static_cast<std::uint32_t>(i)); }
    const float* const terms[] = {from.data()};
    float* const outs[] = {to.data()};
    combine_terms<float, Reduction::Sum>(terms, 1, outs, 1, from.size(), 0, 1);
    for (std::size_t i = 0; i < from.size(); ++i)
    {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(to[i]), std::bit_cast<std::uint32_t>(from[i]));
    }
}

// Every number with itself, its neighbours, zeros, infinities, NaNs and others, which are the second term; the third is one more.
template <class T>
bool is_nan(std::uint16_t bits)
{
    return (bits & 0x7FFF) > (std::is_same_v<T, Half> ? 0x7C00 : 0x7F80);
}

TYPED_TEST(ShortNumbers, have_the_same_bits_by_vectors)
{
    if (!has_vectors_of_short_numbers()) { GTEST_SKIP() << "no AVX2 or no F16C"; }
    constexpr auto type = std::is_same_v<TypeParam, Half> ? ElementType::Half : ElementType::Bfloat16;
    constexpr std::size_t all = 0x10000;
    std::vector<std::uint16_t> first(all), second(all + 1), third(all), one_by_one(all), at_once(all + 1);
    for (std::size_t i = 0; i < all; ++i) { first[i] = static_cast<std::uint16_t>(i); }
    const std::uint16_t special[] = {0,      0x8000, 1,      0x03FF, 0x0400, 0x7BFF, 0x7C00,
                                     0xFC00, 0x7C01, 0x7E00, 0x7F7F, 0x7F80, 0xFF80, 0x7F81};
    for (int round = 0; round < 40; ++round)
    {
        std::mt19937 random(static_cast<unsigned>(round));
        const bool is_random = round >= 20;
        for (std::size_t i = 0; i < all; ++i)
        {
            const auto near = static_cast<std::uint16_t>(first[i] + round - 17);
            const std::uint16_t of_round = round < 14 ? special[round] : is_random ? static_cast<std::uint16_t>(random()) : near;
            second[i + 1] = of_round; // not aligned to 16 bytes
            third[i] = is_random ? static_cast<std::uint16_t>(random()) : 0x3C00;
        }
        const std::byte* const terms[] = {reinterpret_cast<const std::byte*>(first.data()),
                                          reinterpret_cast<const std::byte*>(second.data() + 1),
                                          reinterpret_cast<const std::byte*>(third.data())};
        for (const Reduction reduction : {Reduction::Sum, Reduction::Min, Reduction::Max, Reduction::Product, Reduction::Average})
        {
            for (const int n_terms : {2, 3})
            {
                const std::size_t count = all - static_cast<std::size_t>(round % 8); // a rest that fills no vector
                std::byte* const scalar = reinterpret_cast<std::byte*>(one_by_one.data());
                std::byte* const vector = reinterpret_cast<std::byte*>(at_once.data() + 1);
                combine_on_cpu(type, reduction, terms, n_terms, &scalar, 1, count, false);
                combine_on_cpu(type, reduction, terms, n_terms, &vector, 1, count, true);
                for (std::size_t i = 0; i < count; ++i)
                {
                    // Of two NaNs that are added the language does not say which goes on.
                    if (is_nan<TypeParam>(at_once[i + 1]) && is_nan<TypeParam>(one_by_one[i])) { continue; }
                    ASSERT_EQ(at_once[i + 1], one_by_one[i]) << first[i] << " " << second[i + 1] << " " << third[i];
                }
            }
        }
    }
}

namespace {

template <class T>
T reduced(ElementType type, Reduction reduction, const std::vector<T>& numbers)
{
    std::vector<const std::byte*> terms;
    for (const T& number : numbers) { terms.push_back(reinterpret_cast<const std::byte*>(&number)); }
    T result{};
    auto* out = reinterpret_cast<std::byte*>(&result);
    combine_on_cpu(type, reduction, terms.data(), static_cast<int>(terms.size()), &out, 1, 1);
    return result;
}

} // namespace

TEST(Terms, of_integers_wrap_and_are_averaged_towards_zero)
{
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(), least = std::numeric_limits<std::int32_t>::min();
    EXPECT_EQ(reduced<std::int32_t>(ElementType::Int32, Reduction::Sum, {most, 1}), least);
    EXPECT_EQ(reduced<std::int32_t>(ElementType::Int32, Reduction::Sum, {most, 1, -2}), most - 1);
    EXPECT_EQ(reduced<std::int32_t>(ElementType::Int32, Reduction::Product, {1 << 20, 1 << 12, 3}), 0);
    EXPECT_EQ(reduced<std::int32_t>(ElementType::Int32, Reduction::Average, {most, most, most - 3}), most - 1);
    EXPECT_EQ(reduced<std::int32_t>(ElementType::Int32, Reduction::Average, {-3, -4}), -3);
    EXPECT_EQ(reduced<std::int32_t>(ElementType::Int32, Reduction::Min, {-3, 5, least}), least);
    constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(reduced<std::int64_t>(ElementType::Int64, Reduction::Sum, {greatest, 1}), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(reduced<std::int64_t>(ElementType::Int64, Reduction::Product, {greatest, greatest}), 1);
    EXPECT_EQ(reduced<std::uint8_t>(ElementType::Uint8, Reduction::Sum, {200, 100}), 44);
    EXPECT_EQ(reduced<std::uint8_t>(ElementType::Uint8, Reduction::Average, {200, 100, 255}), 185);
    EXPECT_EQ(reduced<std::uint8_t>(ElementType::Uint8, Reduction::Max, {127, 128}), 128);
    EXPECT_EQ(reduced<double>(ElementType::Double, Reduction::Average, {1.0, 2.5}), 1.75);
}

// A loop of its own serves two terms that go to one place.
TEST(Terms, of_two_have_the_same_bits_in_one_place_as_in_two)
{
    constexpr std::size_t count = 1001;
    std::mt19937_64 random(7);
    std::vector<std::uint64_t> a(count + 1), b(count + 1), one(count + 1), first(count + 1), second(count + 1);
    for (const ElementType type : {ElementType::Float, ElementType::Double, ElementType::Half, ElementType::Bfloat16,
                                   ElementType::Int32, ElementType::Int64, ElementType::Uint8})
    {
        // Exponents below the greatest: which of two NaNs goes on is nobody's.
        constexpr std::uint64_t finite = 0xBFEFBFEFBFEFBFEF;
        for (std::size_t i = 0; i < a.size(); ++i) { a[i] = random() & finite, b[i] = random() & finite; }
        for (const Reduction reduction : {Reduction::Sum, Reduction::Min, Reduction::Max, Reduction::Product, Reduction::Average})
        {
            for (const std::size_t shift : {std::size_t{0}, bytes_of(type)})
            {
                const auto at = [&](std::vector<std::uint64_t>& of) { return reinterpret_cast<std::byte*>(of.data()) + shift; };
                const std::byte* const terms[] = {at(a), at(b)};
                std::byte* const alone[] = {at(one)};
                std::byte* const both[] = {at(first), at(second)};
                combine_on_cpu(type, reduction, terms, 2, alone, 1, count, false);
                combine_on_cpu(type, reduction, terms, 2, both, 2, count, false);
                ASSERT_EQ(std::memcmp(alone[0], both[0], count * bytes_of(type)), 0) << static_cast<int>(type);
                ASSERT_EQ(std::memcmp(both[0], both[1], count * bytes_of(type)), 0);
            }
        }
    }
}

TEST(Terms, of_bytes_are_copied_to_all)
{
    const char text[] = "any bytes";
    char one[sizeof text] = {}, other[sizeof text] = {};
    const auto* const term = reinterpret_cast<const std::byte*>(text);
    std::byte* const outs[] = {reinterpret_cast<std::byte*>(one), reinterpret_cast<std::byte*>(other)};
    combine_on_cpu(ElementType::Byte, Reduction::Sum, &term, 1, outs, 2, sizeof text);
    EXPECT_STREQ(one, text);
    EXPECT_STREQ(other, text);
}
