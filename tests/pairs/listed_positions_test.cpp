// SPDX-License-Identifier: Apache-2.0
// How far atoms have moved since a list was built: one that is known, wherever it is, across the border of the box, and after the
// box has changed.
#include "pairs/listed_positions.hpp"

#include "support/pair_systems.hpp"
#include "support/particles.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

template <class N>
class ListedPositionsTest : public ::testing::Test
{
};
using ListedPolicies = ::testing::Types<MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(ListedPositionsTest, ListedPolicies);

} // namespace

TYPED_TEST(ListedPositionsTest, say_how_far_the_farthest_atom_is_from_where_it_was)
{
    using N = TypeParam;
    auto state = particles_in_input_order<N>(random_liquid({3, 4, 5}, 100, 10, 1));
    const std::size_t atoms = state.slot_of_global.size();
    state.x.set(0, state.box.to_fixed({0.01, 0.02, 4.99})); // near three borders
    ListedPositions<N> listed;
    listed.keep(state);
    for (const int threads : {1, 3})
    {
        CpuQueue queue(threads);
        EXPECT_EQ(largest_displacement(queue, state, listed), 0);
        for (const std::size_t atom : {std::size_t{0}, std::size_t{7}, std::size_t{8}, atoms - 1})
        {
            auto moved = state;
            moved.x.set(atom, state.box.displaced(state.x.get(atom), {-0.03, -0.04, 0.12}));
            moved.x.set((atom + 1) % atoms, state.box.displaced(state.x.get((atom + 1) % atoms), {0.1, 0, 0}));
            EXPECT_NEAR(largest_displacement(queue, moved, listed), 0.13, 1e-8) << atom;
            moved.box.set_edges(2.0 * state.box.edges().diagonal());
            EXPECT_NEAR(largest_displacement(queue, moved, listed), 0.26, 2e-8) << atom;
        }
    }
}
