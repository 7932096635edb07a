// SPDX-License-Identifier: Apache-2.0
#include "domain/ownership.hpp"

#include "support/ranks.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

TEST(Ownership, molecules_are_on_every_rank_that_holds_one_of_their_atoms)
{
    const Topology topology = blocks_that_alternate();
    for (const int ranks : {1, 2, 7, 40})
    {
        const std::vector<int> owner = random_owners(topology.atom_count(), ranks, static_cast<unsigned>(ranks));
        for (int rank = 0; rank <= ranks; ++rank) // the last holds nothing
        {
            ParticleState<Mixed> state;
            for (std::size_t atom = owner.size(); atom-- > 0;)
            {
                if (owner[atom] != rank) { continue; }
                state.global_of_slot.push_back(static_cast<std::int32_t>(atom));
                if (atom % 4 == 0) { state.global_of_slot.push_back(-1); } // a filler
            }
            EXPECT_EQ(molecules_here(topology, state).first_atom, molecules_of_rank(topology, owner, rank).first_atom);
        }
    }
}
