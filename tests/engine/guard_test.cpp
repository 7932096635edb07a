// SPDX-License-Identifier: Apache-2.0
// The watch over a rank's atoms: its own, wherever they are stored, and nobody else's.
#include "engine/guard.hpp"

#include "support/pair_systems.hpp"
#include "support/particles.hpp"
#include "support/ranks.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

TEST(Guard, finds_the_runaway_on_the_rank_that_owns_it_and_on_no_other)
{
    const System system = random_liquid({2, 3, 4}, 40, 5, 3);
    const std::vector<int> owner = random_owners(system.topology.atom_count(), 3, 1);
    CpuQueue queue(2);
    auto whole = particles_in_input_order<Mixed>(system);
    const std::size_t victim = 77;
    whole.v.set(victim, {0, 5e4f, 0}); // 50 nm in 1 fs
    for (int rank = 0; rank < 3; ++rank)
    {
        const auto state = state_of_rank(whole, owner, rank);
        const auto found = find_runaway(queue, state, 0.001);
        ASSERT_EQ(found.has_value(), rank == owner[victim]);
        if (found) { EXPECT_EQ(state.global_of_slot[static_cast<std::size_t>(found->slot)], static_cast<std::int32_t>(victim)); }
    }
}
