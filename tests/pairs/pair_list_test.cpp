// SPDX-License-Identifier: Apache-2.0
// The pair list against all pairs: nothing within the cutoff missing, nothing twice, exclusions out.
#include "pairs/pair_list.hpp"

#include "base/error.hpp"
#include "pairs/cluster_order.hpp"
#include "support/boxes.hpp"
#include "support/pair_systems.hpp"
#include "support/particles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

using Pair = std::pair<std::int32_t, std::int32_t>; // global indices, smaller first

// The pairs listed as interacting by the rows of `parts`, sorted; one listed twice is there twice.
template <class N>
std::vector<Pair> listed_pairs(const ParticleState<N>& state, const std::vector<PairListPart>& parts)
{
    std::vector<Pair> pairs;
    for (const PairListPart& part : parts)
    {
        for (const PairRow& row : part.rows)
        {
            for (std::int32_t e = row.begin; e < row.end; ++e)
            {
                const PairEntry entry = part.entries[static_cast<std::size_t>(e)];
                for (int bit = 0; bit < half_cluster_size * cluster_size; ++bit)
                {
                    if ((entry.interacts >> bit & 1) == 0) { continue; }
                    const std::int32_t i =
                        state.global_of_slot[static_cast<std::size_t>(row.half_cluster * half_cluster_size + bit / cluster_size)];
                    const std::int32_t j =
                        state.global_of_slot[static_cast<std::size_t>(entry.cluster * cluster_size + bit % cluster_size)];
                    if (i >= 0 && j >= 0) { pairs.push_back(std::minmax(i, j)); }
                }
            }
        }
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

// Two atoms of different molecules, and how far apart they are by the positions that a state holds.
struct PairAtDistance
{
    Pair pair;
    double distance;
};

// Those nearer than `cutoff`.
template <class N>
std::vector<PairAtDistance> pairs_in_range(const ParticleState<N>& state, const System& system, double cutoff)
{
    std::vector<std::int64_t> molecule;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        molecule.push_back(system.topology.locate(static_cast<std::int64_t>(i)).molecule_first_atom);
    }
    std::vector<PairAtDistance> pairs;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        const auto xi = state.x.get(static_cast<std::size_t>(state.slot_of_global[i]));
        for (std::size_t j = i + 1; j < system.x.size(); ++j)
        {
            if (molecule[i] == molecule[j]) { continue; }
            const auto xj = state.x.get(static_cast<std::size_t>(state.slot_of_global[j]));
            const double distance = norm(state.box.nearest(xi, xj));
            if (distance < cutoff) { pairs.push_back({{static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)}, distance}); }
        }
    }
    return pairs;
}

// In the molecules of pair_systems.hpp all atoms of a molecule exclude each other.
template <class N>
void expect_complete(const ParticleState<N>& state, const System& system, const std::vector<PairListPart>& parts,
                     const std::vector<PairAtDistance>& in_range, double cutoff)
{
    const std::vector<Pair> listed = listed_pairs(state, parts);
    const auto twice = std::adjacent_find(listed.begin(), listed.end());
    ASSERT_TRUE(twice == listed.end()) << twice->first << " " << twice->second << " is listed twice";
    for (const Pair& pair : listed)
    {
        ASSERT_NE(system.topology.locate(pair.first).molecule_first_atom, system.topology.locate(pair.second).molecule_first_atom)
            << "excluded pair " << pair.first << " " << pair.second;
    }
    for (const auto& [pair, distance] : in_range)
    {
        ASSERT_TRUE(distance >= cutoff || std::binary_search(listed.begin(), listed.end(), pair))
            << pair.first << " " << pair.second;
    }
}

template <class N>
void expect_complete(const ParticleState<N>& state, const System& system, const std::vector<PairListPart>& parts, double cutoff)
{
    expect_complete(state, system, parts, pairs_in_range(state, system, cutoff), cutoff);
}

template <class N>
class PairLists : public ::testing::Test
{
};
using ListPolicies = ::testing::Types<Mixed, Double>;
TYPED_TEST_SUITE(PairLists, ListPolicies);

// Atoms without exclusions at the given places.
System lone_atoms(const Vec3<double>& box, const std::vector<Vec3<double>>& x)
{
    System system = random_liquid(box, 0, 0, 1);
    system.topology.blocks = {{1, static_cast<std::int64_t>(x.size()), 0}};
    system.topology.finish();
    system.x = x;
    return system;
}

} // namespace

TYPED_TEST(PairLists, hold_every_pair_within_the_cutoff_once_in_boxes_of_any_shape)
{
    std::vector<Box<double>> boxes{{1.8, 1.8, 1.8}, {1.8, 30, 1.8},  {30, 1.8, 2.5}, {1.9, 2.0, 40},
                                   {5, 4, 3},       {2.7, 2.7, 2.7}, {3.6, 1.8, 3.6}};
    for (Box<double> box : tilted_boxes())
    {
        box *= 1.8001 / box.least_height();
        boxes.push_back(box);
        boxes.push_back(1.7 * box);
        boxes.push_back(0.9001 / box.largest_cutoff() * box); // lower than twice the cut-off
    }
    int seed = 1;
    for (const Box<double>& box : boxes)
    {
        // In a small box no more than find room apart: the trying, not the lists, took most of the time.
        for (const int molecules : {1, 40, std::min(400, static_cast<int>(30 * box.volume()))})
        {
            if (box.is_low(0.9) && molecules > 40) { continue; } // all atoms are partners: the trying takes long
            SCOPED_TRACE(testing::Message() << seed << " molecules " << molecules);
            const System system = random_liquid(box, molecules, molecules / 3, static_cast<std::uint64_t>(++seed));
            CpuQueue queue(2);
            const ParticleState<TypeParam> state = make_state<TypeParam>(system, {}, queue);
            const std::vector<PairAtDistance> in_range = pairs_in_range(state, system, 0.9);
            PairList list;
            build_pair_list(queue, state, system.topology, 0.9, list);
            expect_complete(state, system, list.parts, in_range, 0.9);
            prune_pair_list(queue, state, 0.7, list);
            expect_complete(state, system, list.pruned, in_range, 0.7);
        }
    }
}

TYPED_TEST(PairLists, are_complete_for_any_order_of_atoms)
{
    const System system = random_liquid({2.2, 2.6, 3.0}, 250, 30, 5);
    CpuQueue queue(1);
    const ParticleState<TypeParam> state = particles_in_input_order<TypeParam>(system); // clusters as large as the box
    PairList list;
    build_pair_list(queue, state, system.topology, 0.8, list);
    expect_complete(state, system, list.parts, 0.8);
    prune_pair_list(queue, state, 0.6, list);
    expect_complete(state, system, list.pruned, 0.6);
}

TYPED_TEST(PairLists, hold_pairs_just_within_the_cutoff_across_faces_and_along_every_direction)
{
    const Vec3<double> box{3, 4, 5};
    constexpr double rc = 1.0;
    for (const Vec3<double>& corner :
         {Vec3<double>{0, 0, 0}, Vec3<double>{3, 4, 5}, Vec3<double>{1.5, 0, 2.5}, Vec3<double>{2.9999999, 3.5, 0.1}})
    {
        std::vector<Vec3<double>> x{corner};
        std::mt19937_64 engine(3);
        std::normal_distribution<double> normal;
        for (int k = 0; k < 200; ++k)
        {
            Vec3<double> d{normal(engine), normal(engine), normal(engine)};
            if (k < 6) { d = {}, d[k % 3] = k < 3 ? 1 : -1; }
            x.push_back(corner + (rc * (1 - 1e-9) / norm(d)) * d);
        }
        const System system = lone_atoms(box, x);
        CpuQueue queue(1);
        const ParticleState<TypeParam> state = make_state<TypeParam>(system, {}, queue);
        PairList list;
        build_pair_list(queue, state, system.topology, rc, list);
        expect_complete(state, system, list.parts, rc);
        prune_pair_list(queue, state, rc, list);
        expect_complete(state, system, list.pruned, rc);
        const std::vector<Pair> listed = listed_pairs(state, list.pruned);
        for (std::int32_t k = 1; k <= 200; ++k)
        {
            EXPECT_TRUE(std::binary_search(listed.begin(), listed.end(), Pair{0, k})) << k;
        }
    }
}

TYPED_TEST(PairLists, hold_atoms_on_a_lattice_on_the_faces_of_the_box)
{
    std::vector<Vec3<double>> x;
    for (int a = 0; a < 8; ++a)
    {
        for (int b = 0; b < 8; ++b)
        {
            for (int c = 0; c < 8; ++c) { x.push_back({0.25 * a, 0.25 * b, 0.25 * c}); }
        }
    }
    const System system = lone_atoms({2, 2, 2}, x);
    CpuQueue queue(2);
    const ParticleState<TypeParam> state = make_state<TypeParam>(system, {}, queue);
    PairList list;
    build_pair_list(queue, state, system.topology, 1.0, list);
    expect_complete(state, system, list.parts, 1.0);
}

TYPED_TEST(PairLists, are_not_much_longer_than_their_sphere)
{
    const System system = random_liquid({4, 4, 4}, 2000, 0, 8); // 94 atoms per nm^3
    CpuQueue queue(2);
    const ParticleState<TypeParam> state = make_state<TypeParam>(system, {}, queue);
    PairList list;
    build_pair_list(queue, state, system.topology, 0.9, list);
    const double listed = 32.0 * static_cast<double>(list.entries());
    const auto in_range = static_cast<double>(pairs_in_range(state, system, 0.9).size());
    EXPECT_LT(listed, 2.8 * in_range);
    prune_pair_list(queue, state, 0.9, list);
    EXPECT_LT(static_cast<double>(listed_pairs(state, list.pruned).size()), 2.4 * in_range) << "pruning drops i atoms as well";
}

TYPED_TEST(PairLists, are_the_same_for_any_number_of_threads)
{
    const System system = random_liquid({3, 3, 3}, 500, 50, 4);
    CpuQueue one(1), three(3);
    const ParticleState<TypeParam> a = make_state<TypeParam>(system, {}, one), b = make_state<TypeParam>(system, {}, three);
    EXPECT_EQ(a.x.values(), b.x.values());
    EXPECT_EQ(a.global_of_slot, b.global_of_slot);
    PairList la, lb;
    build_pair_list(one, a, system.topology, 1.0, la);
    build_pair_list(three, b, system.topology, 1.0, lb);
    ASSERT_EQ(la.parts.size(), lb.parts.size());
    for (std::size_t p = 0; p < la.parts.size(); ++p)
    {
        ASSERT_EQ(la.parts[p].entries.size(), lb.parts[p].entries.size());
        for (std::size_t e = 0; e < la.parts[p].entries.size(); ++e)
        {
            EXPECT_EQ(la.parts[p].entries[e].cluster, lb.parts[p].entries[e].cluster);
            EXPECT_EQ(la.parts[p].entries[e].interacts, lb.parts[p].entries[e].interacts);
        }
    }
    EXPECT_NE(la.serial, lb.serial);
}

TEST(PairList, refuses_a_cutoff_beyond_half_the_box)
{
    const Box<double> dodecahedron({1.79, 1.79, 1.79 * std::sqrt(0.5)}, {0, 0.895, 0.895});
    for (const Box<double>& box : {Box<double>(1.7, 3, 3), dodecahedron})
    {
        const System system = random_liquid(box, 10, 0, 4);
        CpuQueue queue(1);
        const ParticleState<Mixed> state = make_state<Mixed>(system, {}, queue);
        PairList list;
        EXPECT_THROW(build_pair_list(queue, state, system.topology, 0.9, list), ContractError);
    }
}
