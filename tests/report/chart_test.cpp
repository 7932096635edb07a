// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

namespace parhelion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> count_from_zero(std::size_t n)
{
    std::vector<double> list(n);
    std::iota(list.begin(), list.end(), 0.0);
    return list;
}

TEST(Ticks, are_few_round_numbers_within_the_range)
{
    EXPECT_THAT(ticks(0, 10), ElementsAre(0, 2, 4, 6, 8, 10));
    EXPECT_THAT(ticks(-1.2, 1.3), ElementsAre(-1, -0.5, 0, 0.5, 1));
    for (const double low : {-3e8, -1.0, 0.0, 1e-9, 299.1})
    {
        for (const double size : {1e-6, 0.7, 1.0, 3.3, 49.0, 1e7})
        {
            const std::vector<double> at = ticks(low, low + size);
            EXPECT_GE(at.size(), 2u) << low << " " << size;
            EXPECT_LE(at.size(), 7u) << low << " " << size;
            EXPECT_GE(at.front(), low - 1e-6 * size - 1e-7);
            EXPECT_LE(at.back(), low + 1.000001 * size + 1e-7);
        }
    }
}

TEST(Thinning, keeps_every_value_of_a_short_series)
{
    const std::vector<double> times = {0, 1, 2, 3}, values = {5, 7, 6, 6};
    EXPECT_THAT(thinned(times, values, 100),
                ElementsAre(std::pair(0., 5.), std::pair(1., 7.), std::pair(2., 6.), std::pair(3., 6.)));
}

TEST(Thinning, loses_no_peak_and_stays_in_the_order_of_time)
{
    const std::vector<double> times = count_from_zero(100001);
    std::vector<double> values(times.size(), 1);
    values[31415] = 99, values[92653] = -99, values[92654] = 98;
    const auto points = thinned(times, values, 300);
    EXPECT_LE(points.size(), 600u);
    EXPECT_EQ(points.front().first, 0);
    EXPECT_EQ(points.back().first, 100000);
    EXPECT_TRUE(std::is_sorted(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first < b.first; }));
    for (const std::size_t peak : {31415u, 92653u, 92654u})
    {
        EXPECT_NE(std::find(points.begin(), points.end(), std::pair(times[peak], values[peak])), points.end()) << peak;
    }
}

TEST(Thinning, leaves_out_what_is_no_number)
{
    const std::vector<double> times = {0, 1, 2, 3}, values = {nan, 1, std::numeric_limits<double>::infinity(), 2};
    EXPECT_THAT(thinned(times, values, 100), ElementsAre(std::pair(1., 1.), std::pair(3., 2.)));
    EXPECT_TRUE(thinned(times, std::vector<double>(4, nan), 100).empty());
    EXPECT_TRUE(thinned({}, {}, 100).empty());
}

TEST(Chart, has_axes_with_units_and_a_curve_for_each_run)
{
    const std::vector<double> times = count_from_zero(50);
    std::vector<double> a(50), b(50);
    for (std::size_t i = 0; i < 50; ++i) { a[i] = 300 + std::sin(0.3 * static_cast<double>(i)), b[i] = a[i] + 1; }
    const std::string svg = draw_chart({"Temperature", "K"}, {{times, a, 300}, {times, b, nan}});
    EXPECT_THAT(svg, HasSubstr("<figcaption>Temperature <small>K</small>"));
    EXPECT_THAT(svg, HasSubstr(">time / ps</text>"));
    EXPECT_THAT(svg, HasSubstr(">300</text>"));
    EXPECT_THAT(svg, HasSubstr("class=\"curve c0\""));
    EXPECT_THAT(svg, HasSubstr("class=\"curve c1\""));
    EXPECT_THAT(svg, HasSubstr("class=\"mean c0\""));
    EXPECT_THAT(svg, Not(HasSubstr("class=\"mean c1\"")));
}

TEST(Chart, shows_what_hardly_changes_and_what_is_large)
{
    const std::vector<double> times = {0, 5e4, 1e5};
    const std::string svg = draw_chart({"Total Energy", "kJ/mol"}, {{times, std::vector<double>{-6e8, -6e8 + 3, -6e8 + 1}, nan}});
    EXPECT_THAT(svg, HasSubstr("kJ/mol, from -600000000"));
    EXPECT_THAT(svg, HasSubstr(">2</text>"));
    EXPECT_THAT(svg, HasSubstr(">time / ns</text>"));
    const std::string large = draw_chart({"Potential", "kJ/mol"}, {{times, std::vector<double>{-6.1e8, -6.3e8, -6.2e8}, nan}});
    EXPECT_THAT(large, HasSubstr("10^6 kJ/mol"));
    EXPECT_THAT(large, HasSubstr(">-620</text>"));
}

TEST(Chart, of_one_frame_or_of_constant_values_has_finite_numbers)
{
    const std::vector<double> one = {0.5}, two = {0, 1};
    for (const double value : {0.0, 300.0, -1e-12, 7e11})
    {
        for (const std::string& svg : {draw_chart({"a", ""}, {{one, std::vector<double>{value}, value}}),
                                       draw_chart({"a", ""}, {{two, std::vector<double>{value, value}, value}})})
        {
            EXPECT_THAT(svg, HasSubstr("class=\"curve c0\""));
            EXPECT_THAT(svg, Not(HasSubstr("nan")));
            EXPECT_THAT(svg, Not(HasSubstr("inf")));
        }
    }
    EXPECT_EQ(draw_chart({"a", ""}, {{two, std::vector<double>{nan, nan}, nan}}), "");
    EXPECT_EQ(draw_chart({"a", ""}, {}), "");
}

} // namespace
} // namespace parhelion
