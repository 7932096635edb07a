// SPDX-License-Identifier: Apache-2.0
#include "pairs/cluster_order.hpp"

#include "support/pair_systems.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

template <class N>
class ClusterOrder : public ::testing::Test
{
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(ClusterOrder, Policies);

System moving_liquid(const Vec3<double>& box, int molecules)
{
    System system = random_liquid(box, molecules, 7, 2);
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.v.push_back({0.5 * static_cast<double>(i), 1.0, -0.25}); }
    return system;
}

// Every atom is in one slot with what belongs to it; fillers are what the state's header says.
template <class N>
void expect_consistent(const ParticleState<N>& state, const System& system, const std::vector<std::uint8_t>& groups)
{
    ASSERT_EQ(state.slots() % cluster_size, 0u);
    ASSERT_EQ(state.slot_of_global.size(), system.x.size());
    std::size_t atoms = 0;
    for (std::size_t slot = 0; slot < state.slots(); ++slot)
    {
        const std::int32_t g = state.global_of_slot[slot];
        EXPECT_EQ(from_sum(state.f.get(slot).x), 0);
        if (g < 0)
        {
            EXPECT_EQ(state.charge[slot], 0);
            EXPECT_EQ(state.inverse_mass[slot], 0);
            EXPECT_EQ(state.temperature_group[slot], 0);
            EXPECT_EQ(state.v.get(slot), (Vec3<typename N::Real>{}));
            bool on_an_atom = false;
            for (std::size_t other = slot / cluster_size * cluster_size; other < (slot / cluster_size + 1) * cluster_size;
                 ++other)
            {
                on_an_atom = on_an_atom || (state.global_of_slot[other] >= 0 && state.x.get(other) == state.x.get(slot));
            }
            EXPECT_TRUE(on_an_atom);
            continue;
        }
        ++atoms;
        const auto atom = static_cast<std::size_t>(g);
        EXPECT_EQ(static_cast<std::size_t>(state.slot_of_global[atom]), slot);
        EXPECT_EQ(state.x.get(slot), state.box.to_fixed(system.x[atom]));
        EXPECT_EQ(state.v.get(slot), static_cast<Vec3<typename N::Real>>(system.v[atom]));
        EXPECT_EQ(state.charge[slot], static_cast<typename N::Real>(system.topology.atom(g).charge));
        EXPECT_EQ(state.inverse_mass[slot], static_cast<typename N::Real>(1 / system.topology.atom(g).mass));
        EXPECT_EQ(state.lj_type[slot], system.topology.atom(g).type);
        EXPECT_EQ(state.temperature_group[slot], groups[atom]);
    }
    EXPECT_EQ(atoms, system.x.size());
}

} // namespace

TYPED_TEST(ClusterOrder, carries_every_property_of_every_atom_from_the_input_and_through_a_new_order)
{
    for (const int molecules : {0, 1, 5, 333})
    {
        const System system = moving_liquid({2, 3, 4}, molecules);
        std::vector<std::uint8_t> groups;
        for (std::size_t i = 0; i < system.x.size(); ++i) { groups.push_back(static_cast<std::uint8_t>(i % 3)); }
        CpuQueue queue(2);
        ParticleState<TypeParam> state = make_state<TypeParam>(system, groups, queue);
        expect_consistent(state, system, groups);

        // Move everything by a third of the box and order again: the same properties elsewhere.
        System moved = system;
        for (std::size_t slot = 0; slot < state.slots(); ++slot)
        {
            const std::int32_t g = state.global_of_slot[slot];
            if (g < 0) { continue; }
            moved.x[static_cast<std::size_t>(g)] = moved.x[static_cast<std::size_t>(g)] + Vec3<double>{0.7, 1.1, 1.3};
            state.x.set(slot, state.box.to_fixed(moved.x[static_cast<std::size_t>(g)]));
        }
        reorder(queue, state);
        expect_consistent(state, moved, groups);
    }
}

TYPED_TEST(ClusterOrder, makes_compact_clusters_with_few_fillers)
{
    const System system = moving_liquid({5, 5, 5}, 4000);
    CpuQueue queue(2);
    const ParticleState<TypeParam> state = make_state<TypeParam>(system, {}, queue);
    EXPECT_LT(static_cast<double>(state.slots()), 1.07 * static_cast<double>(system.x.size()));
    double extent = 0; // mean over clusters and dimensions
    for (std::size_t c = 0; c < state.clusters(); ++c)
    {
        for (int d = 0; d < 3; ++d)
        {
            double low = 0, high = 0;
            for (std::size_t lane = 1; lane < cluster_size; ++lane)
            {
                const double dx = state.box.difference(state.x.get(c * cluster_size + lane), state.x.get(c * cluster_size))[d];
                low = std::min(low, dx), high = std::max(high, dx);
            }
            extent += (high - low) / (3.0 * static_cast<double>(state.clusters()));
        }
    }
    const double cube = std::cbrt(cluster_size * 125.0 / static_cast<double>(system.x.size()));
    EXPECT_LT(extent, cube);
}
