// SPDX-License-Identifier: Apache-2.0
#include "state/molecules.hpp"

#include "support/ranks.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

TEST(Molecules, are_listed_by_type_in_the_order_of_the_system)
{
    const Topology topology = blocks_that_alternate();
    const MoleculeList all = all_molecules(topology);
    ASSERT_EQ(all.first_atom.size(), 2u);
    EXPECT_EQ(all.first_atom[1], (std::vector<std::int32_t>{90, 110, 130, 150, 170, 190}));
    EXPECT_EQ(all.first_atom[0].size(), 55u);
    EXPECT_EQ(all.first_atom[0][29], 87);
    EXPECT_EQ(all.first_atom[0][30], 210);
}
