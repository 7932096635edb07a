// SPDX-License-Identifier: Apache-2.0
#include "state/molecules.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

TEST(Molecules, are_listed_by_type_in_the_order_of_the_system)
{
    Topology topology; // two types in blocks that alternate, one of them empty
    topology.molecule_types.resize(2);
    topology.molecule_types[0].atoms.resize(3);
    topology.molecule_types[1].atoms.resize(20);
    topology.blocks = {{0, 30, 0}, {1, 4, 0}, {0, 0, 0}, {1, 2, 0}, {0, 25, 0}};
    topology.finish();
    const MoleculeList all = all_molecules(topology);
    ASSERT_EQ(all.first_atom.size(), 2u);
    EXPECT_EQ(all.first_atom[1], (std::vector<std::int32_t>{90, 110, 130, 150, 170, 190}));
    EXPECT_EQ(all.first_atom[0].size(), 55u);
    EXPECT_EQ(all.first_atom[0][29], 87);
    EXPECT_EQ(all.first_atom[0][30], 210);
}
