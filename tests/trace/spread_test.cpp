// SPDX-License-Identifier: Apache-2.0
#include "trace/spread.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

TEST(Spread, of_an_odd_number_of_values_has_as_many_below_its_median_as_above)
{
    const Spread spread = spread_of({5.0, 1.0, 100.0, 3.0, 2.0});
    EXPECT_EQ(spread.median, 3u); // the value 3
    EXPECT_EQ(spread.min, 1.0);
    EXPECT_EQ(spread.max, 100.0);
}

TEST(Spread, of_an_even_number_of_values_has_the_lower_of_two_medians)
{
    const Spread spread = spread_of({8.0, 4.0, 6.0, 2.0});
    EXPECT_EQ(spread.median, 1u); // the value 4
    EXPECT_EQ(spread.min, 2.0);
    EXPECT_EQ(spread.max, 8.0);
}

TEST(Spread, of_one_value_is_that_value)
{
    const Spread spread = spread_of({7.0});
    EXPECT_EQ(spread.median, 0u);
    EXPECT_EQ(spread.min, 7.0);
    EXPECT_EQ(spread.max, 7.0);
}

TEST(Spread, of_equal_values_has_the_median_in_the_order_of_measurement) { EXPECT_EQ(spread_of({1.0, 1.0, 1.0}).median, 1u); }

TEST(Spread, needs_a_value) { EXPECT_THROW(spread_of({}), ContractError); }
