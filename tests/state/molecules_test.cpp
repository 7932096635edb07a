// SPDX-License-Identifier: Apache-2.0
#include "state/molecules.hpp"

#include "support/ranks.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// Two types in blocks that alternate, one of them empty.
Topology mixture()
{
    Topology topology;
    topology.molecule_types.resize(2);
    topology.molecule_types[0].atoms.resize(3);
    topology.molecule_types[1].atoms.resize(20);
    topology.blocks = {{0, 30, 0}, {1, 4, 0}, {0, 0, 0}, {1, 2, 0}, {0, 25, 0}};
    topology.finish();
    return topology;
}

} // namespace

TEST(Molecules, are_listed_by_type_in_the_order_of_the_system)
{
    const MoleculeList all = all_molecules(mixture());
    ASSERT_EQ(all.first_atom.size(), 2u);
    EXPECT_EQ(all.first_atom[1], (std::vector<std::int32_t>{90, 110, 130, 150, 170, 190}));
    EXPECT_EQ(all.first_atom[0].size(), 55u);
    EXPECT_EQ(all.first_atom[0][29], 87);
    EXPECT_EQ(all.first_atom[0][30], 210);
}

TEST(Molecules, are_on_a_rank_that_holds_one_of_their_atoms)
{
    const Topology topology = mixture();
    for (const int ranks : {1, 2, 7, 40})
    {
        const std::vector<int> owner = random_owners(topology.atom_count(), ranks, static_cast<unsigned>(ranks));
        for (int rank = 0; rank <= ranks; ++rank)
        {
            std::vector<std::int32_t> global_of_slot, slot_of_global(owner.size(), -1);
            for (std::size_t atom = owner.size(); atom-- > 0;)
            {
                if (owner[atom] != rank) { continue; }
                slot_of_global[atom] = static_cast<std::int32_t>(global_of_slot.size());
                global_of_slot.push_back(static_cast<std::int32_t>(atom));
                if (atom % 4 == 0) { global_of_slot.push_back(-1); } // a filler
            }
            EXPECT_EQ(molecules_on_rank(topology, global_of_slot, slot_of_global).first_atom,
                      molecules_of_rank(topology, owner, rank).first_atom);
        }
    }
}
