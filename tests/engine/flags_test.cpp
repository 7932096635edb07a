// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/flags_gpu.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

TEST(FlagsAndBalance, are_those_of_all_ranks_and_one_more_if_balances_do_not_cancel)
{
    using F = FlagsAndBalance;
    EXPECT_EQ(settled(combine(F{1, 2}, combine(F{4, -3}, F{5, 1}))), (F{5, 0}));
    EXPECT_EQ(settled(combine(F{1, 2}, F{4, -3})), (F{5 | F::unbalanced, 0}));
    const F once = settled(combine(F{0, 1}, F{0, 0}));
    EXPECT_EQ(settled(combine(once, once)), once) << "it makes no difference how often ranks agree";
}
