// SPDX-License-Identifier: Apache-2.0
// Order and pair list on the GPU against all pairs: nothing within the cutoff missing, nothing twice, exclusions out.
#include "pairs/gpu/pair_list_gpu.hpp"

#include "device/gpu/graph.hpp"
#include "support/boxes.hpp"
#include "support/gpu_pairs.hpp"
#include "support/gpu_particles.hpp"
#include "support/gpu_test.hpp"
#include "support/one_in.hpp"
#include "support/pair_systems.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

using Pair = GlobalPair;

template <class N>
class GpuPairLists : public GpuTest
{
};
using Policies = ::testing::Types<Mixed, Double>;
TYPED_TEST_SUITE(GpuPairLists, Policies);

template <class N>
class GpuPruning : public GpuTest
{
};
using AllPolicies = ::testing::Types<Mixed, MixedReproducible, Double, DoubleReproducible>;
TYPED_TEST_SUITE(GpuPruning, AllPolicies);

// Pairs nearer than `cutoff`, without those of one molecule: in pair_systems.hpp they exclude each other.
template <class N>
std::vector<Pair> pairs_in_range(const ParticleState<N>& particles, const System& system, double cutoff)
{
    std::vector<std::int64_t> molecule;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        molecule.push_back(system.topology.locate(static_cast<std::int64_t>(i)).molecule_first_atom);
    }
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        for (std::size_t j = i + 1; j < system.x.size(); ++j)
        {
            const auto d = particles.box.nearest(particles.x.get(i), particles.x.get(j)); // input order
            if (molecule[i] != molecule[j] && norm(d) < cutoff)
            {
                pairs.emplace_back(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
            }
        }
    }
    return pairs;
}

void expect_complete(const HostPairList& list, const std::vector<Pair>& in_range, const System& system)
{
    const std::vector<Pair> listed = listed_pairs(list);
    const auto twice = std::adjacent_find(listed.begin(), listed.end());
    ASSERT_TRUE(twice == listed.end()) << twice->first << " " << twice->second << " is listed twice";
    for (const Pair& pair : listed)
    {
        ASSERT_NE(system.topology.locate(pair.first).molecule_first_atom, system.topology.locate(pair.second).molecule_first_atom)
            << "excluded pair " << pair.first << " " << pair.second;
    }
    std::vector<Pair> missing;
    std::set_difference(in_range.begin(), in_range.end(), listed.begin(), listed.end(), std::back_inserter(missing));
    ASSERT_TRUE(missing.empty()) << missing.size() << " of " << in_range.size() << " pairs are missing, the first "
                                 << missing[0].first << " " << missing[0].second;
}

template <class N>
GpuPairList pruned_list(GpuQueue& queue, GpuState<N>& state, const System& system, double cutoff, double pruned_cutoff,
                        const PairSharing& sharing = {})
{
    GpuPairList list;
    reserve_pair_list(queue, state, system.box, cutoff, PairPart::Local, list, sharing);
    build_pair_list(queue, state, make_gpu_exclusions(queue, system.topology), cutoff, list);
    prune_pair_list(queue, state, pruned_cutoff, list);
    return list;
}

template <class N>
void expect_complete_list(const System& system, double cutoff, double pruned_cutoff)
{
    GpuQueue queue;
    const ParticleState<N> particles = particles_in_input_order<N>(system);
    GpuState<N> state = sorted_gpu_state(queue, particles);
    const GpuPairList list = pruned_list(queue, state, system, cutoff, pruned_cutoff);
    ASSERT_EQ(state.scalars.to_vector(queue)[0].flags, 0u);
    expect_complete(read(queue, state, list, false), pairs_in_range(particles, system, cutoff), system);
    expect_complete(read(queue, state, list, true), pairs_in_range(particles, system, pruned_cutoff), system);
}

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

TYPED_TEST(GpuPairLists, order_keeps_every_atom_with_what_it_has_in_compact_superclusters)
{
    GpuQueue queue;
    System system = random_liquid({4, 5, 3}, 1900, 80, 7);
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.v.push_back({0.25 * static_cast<double>(i), 1, 2}); }
    const ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
    const GpuState<TypeParam> state = sorted_gpu_state(queue, particles);
    const auto xq = state.xq.to_vector(queue);
    const auto v = state.v.to_vector(queue);
    const auto global_of_slot = state.global_of_slot.to_vector(queue), slot_of_global = state.slot_of_global.to_vector(queue);
    const auto lj_type = state.lj_type.to_vector(queue);
    std::vector<int> seen(system.x.size());
    double extent = 0;
    for (std::size_t slot = 0; slot < state.slots; ++slot)
    {
        const auto g = static_cast<std::size_t>(global_of_slot[slot]);
        const std::size_t first = slot / supercluster_size * supercluster_size;
        const auto d = particles.box.difference({xq[slot].x, xq[slot].y, xq[slot].z}, {xq[first].x, xq[first].y, xq[first].z});
        extent = std::max({extent, std::abs(d.x), std::abs(d.y), std::abs(d.z)});
        if (global_of_slot[slot] < 0)
        {
            EXPECT_EQ(xq[slot].charge, 0);
            EXPECT_EQ(v[slot].inverse_mass, 0);
            continue;
        }
        ++seen[g];
        EXPECT_EQ(slot_of_global[g], static_cast<std::int32_t>(slot));
        EXPECT_EQ((Vec3<typename TypeParam::Fixed>{xq[slot].x, xq[slot].y, xq[slot].z}), particles.x.get(g));
        EXPECT_EQ(xq[slot].charge, particles.charge[g]);
        EXPECT_EQ(v[slot].x, particles.v.get(g).x);
        EXPECT_EQ(v[slot].inverse_mass, particles.inverse_mass[g]);
        EXPECT_EQ(lj_type[slot], particles.lj_type[g]);
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(seen.size()));
    EXPECT_LT(extent, 1.8); // a cube of 64 atoms is 0.85 nm wide here; columns' ends are sparse
}

// Of 34 000 columns as wide as the cube of 64 atoms.
TYPED_TEST(GpuPairLists, order_keeps_every_atom_of_a_box_so_flat_that_its_columns_are_too_many)
{
    GpuQueue queue;
    const Vec3<double> box{1000, 1000, 1};
    std::mt19937_64 engine(5);
    std::uniform_real_distribution<double> anywhere;
    std::vector<Vec3<double>> x(400'000);
    for (Vec3<double>& at : x) { at = {box.x * anywhere(engine), box.y * anywhere(engine), box.z * anywhere(engine)}; }
    const GpuState<TypeParam> state = sorted_gpu_state<TypeParam>(queue, lone_atoms(box, x));
    ASSERT_EQ(state.scalars.to_vector(queue)[0].flags, 0u);
    const std::vector<std::int32_t> global_of_slot = state.global_of_slot.to_vector(queue);
    std::vector<int> slots_of(x.size());
    for (const std::int32_t global : global_of_slot)
    {
        if (global >= 0) { ++slots_of[static_cast<std::size_t>(global)]; }
    }
    EXPECT_EQ(std::count(slots_of.begin(), slots_of.end(), 1), static_cast<std::ptrdiff_t>(x.size()));
}

TYPED_TEST(GpuPairLists, order_is_a_function_of_the_positions)
{
    GpuQueue queue;
    const System system = random_liquid({4, 5, 3}, 1900, 80, 7);
    GpuState<TypeParam> state = sorted_gpu_state<TypeParam>(queue, system);
    const std::vector<std::int32_t> once = state.global_of_slot.to_vector(queue);
    ReorderScratch<TypeParam> scratch;
    reorder(queue, state, scratch);
    EXPECT_EQ(state.global_of_slot.to_vector(queue), once);
}

TYPED_TEST(GpuPairLists, hold_every_pair_within_the_cutoff_once_in_boxes_of_any_shape)
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
    std::uint64_t seed = 1;
    OneIn tilted;
    for (const Box<double>& box : boxes)
    {
        for (const int molecules : {0, 1, 40, 400})
        {
            if (!box.is_rectangular() && !tilted.takes_next()) { continue; }
            const Vec3<double>& edge = box.diagonal();
            SCOPED_TRACE(testing::Message() << edge.x << " " << edge.y << " " << edge.z << ", tilted " << box.tilt().x << " "
                                            << box.tilt().y << " " << box.tilt().z << ", molecules " << molecules);
            expect_complete_list<TypeParam>(random_liquid(box, molecules, molecules / 3 + 1, ++seed), 0.9, 0.7);
        }
    }
}

TYPED_TEST(GpuPairLists, hold_every_pair_of_a_liquid)
{
    expect_complete_list<TypeParam>(random_liquid({4, 5, 3}, 1900, 80, 3), 1.0, 0.9);
}

TYPED_TEST(GpuPairLists, hold_pairs_just_within_the_cutoff_across_faces_and_along_every_direction)
{
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
            x.push_back(corner + ((1 - 1e-9) / norm(d)) * d);
        }
        expect_complete_list<TypeParam>(lone_atoms({3, 4, 5}, x), 1.0, 1.0);
    }
}

// More rows than are pruned at once: each gets fewer warps.
TYPED_TEST(GpuPruning, keeps_every_pair_in_range_of_many_rows)
{
    constexpr int n = 32;
    constexpr double spacing = 0.25, cutoff = 0.6, pruned_cutoff = 0.5;
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<Vec3<double>> x;
    for (int k = 0; k < n * n * n; ++k)
    {
        const Vec3<double> corner{k % n + unit(engine), k / n % n + unit(engine), k / (n * n) + unit(engine)};
        x.push_back(spacing * corner);
    }
    const System system = lone_atoms({n * spacing, n * spacing, n * spacing}, x);
    GpuQueue queue;
    const ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
    GpuState<TypeParam> state = sorted_gpu_state(queue, particles);
    ASSERT_GT(static_cast<int>(state.superclusters()), 3 * queue.multiprocessors());
    const GpuPairList list = pruned_list(queue, state, system, cutoff, pruned_cutoff);
    std::vector<Pair> in_range;
    for (const Pair& pair : listed_pairs(read(queue, state, list, false)))
    {
        const auto i = static_cast<std::size_t>(pair.first), j = static_cast<std::size_t>(pair.second);
        if (norm(particles.box.difference(particles.x.get(i), particles.x.get(j))) < pruned_cutoff) { in_range.push_back(pair); }
    }
    ASSERT_GT(in_range.size(), 10 * x.size());
    expect_complete(read(queue, state, list, true), in_range, system);
}

// Pruning rounds coordinates. Atoms are eight in a place, a cluster: so every pair of places has a tile of its own, which nothing
// else keeps. The wider apart, the wider superclusters, and the coarser is what is rounded.
TYPED_TEST(GpuPruning, keeps_lone_pairs_just_within_the_cutoff_that_as_rounded_are_not)
{
    using Fixed = typename TypeParam::Fixed;
    constexpr double cutoff = 0.9;
    for (const double spacing : {3.2, 150.0})
    {
        SCOPED_TRACE(spacing);
        std::mt19937_64 engine(5);
        std::normal_distribution<double> normal;
        std::vector<Vec3<double>> x;
        for (int k = 0; k < 216; ++k)
        {
            const Vec3<double> jitter{normal(engine), normal(engine), normal(engine)},
                d{normal(engine), normal(engine), normal(engine)}, corner{k % 6 + 0.4, k / 6 % 6 + 0.4, k / 36 + 0.4};
            const Vec3<double> place = spacing * corner + 0.05 * jitter;
            x.insert(x.end(), cluster_size, place);
            x.insert(x.end(), cluster_size, place + ((1 - 1e-6) * cutoff / norm(d)) * d);
        }
        const System system = lone_atoms({6 * spacing, 6 * spacing, 6 * spacing}, x);
        GpuQueue queue;
        const ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
        GpuState<TypeParam> state = sorted_gpu_state(queue, particles);
        const GpuPairList list = pruned_list(queue, state, system, cutoff + 0.1, cutoff);
        const HostPairList pruned = read(queue, state, list, true);
        expect_complete(pruned, pairs_in_range(particles, system, cutoff), system);

        const std::vector<AtomBounds> superclusters = list.superclusters.to_vector(queue);
        const auto half_precision = [](double value) {
            int exponent = 0;
            const double bits = std::frexp(value, &exponent) * 2048;
            return std::ldexp(std::nearbyint(bits), exponent - 11);
        };
        int in_range = 0, lost = 0;
        for_every_pair(pruned, [&](std::size_t i, std::size_t j) {
            const AtomBounds& row = superclusters[i / supercluster_size];
            constexpr int below = 8 * sizeof(Fixed) - 32;
            const Vec3<Fixed> middle{Fixed{row.x} << below, Fixed{row.y} << below, Fixed{row.z} << below};
            const auto place = [&](std::size_t slot) {
                return particles.x.get(static_cast<std::size_t>(pruned.global_of_slot[slot]));
            };
            const auto rounded = [&](std::size_t slot) {
                const auto d = particles.box.difference(place(slot), middle);
                return Vec3<double>{half_precision(d.x), half_precision(d.y), half_precision(d.z)};
            };
            if (norm(particles.box.difference(place(i), place(j))) >= cutoff) { return; }
            ++in_range, lost += norm(rounded(i) - rounded(j)) >= 1.0001 * cutoff ? 1 : 0;
        });
        EXPECT_EQ(in_range, 216 * (64 + 2 * 28));
        EXPECT_GT(lost, 216 * 64 / 4);
    }
}

TYPED_TEST(GpuPairLists, hold_atoms_on_a_lattice_on_the_faces_of_the_box)
{
    std::vector<Vec3<double>> x;
    for (int k = 0; k < 512; ++k) { x.push_back({0.25 * (k % 8), 0.25 * (k / 8 % 8), 0.25 * (k / 64)}); }
    expect_complete_list<TypeParam>(lone_atoms({2, 2, 2}, x), 1.0, 0.8);
}

TYPED_TEST(GpuPairLists, hold_atoms_that_crowd_in_a_corner_of_a_large_box)
{
    std::vector<Vec3<double>> x;
    for (int k = 0; k < 1000; ++k) { x.push_back({0.2 * (k % 10) - 1, 0.2 * (k / 10 % 10) - 1, 0.2 * (k / 100) - 1}); }
    x.push_back({10, 10, 10});
    expect_complete_list<TypeParam>(lone_atoms({20, 20, 20}, x), 0.9, 0.8);
}

TYPED_TEST(GpuPairLists, are_not_much_longer_than_their_sphere)
{
    GpuQueue queue;
    const System system = random_liquid({4, 4, 4}, 2000, 0, 8); // 94 atoms per nm^3
    const ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
    GpuState<TypeParam> state = sorted_gpu_state(queue, particles);
    const GpuPairList list = pruned_list(queue, state, system, 0.9, 0.9);
    const auto in_range = static_cast<double>(pairs_in_range(particles, system, 0.9).size());
    const auto listed = static_cast<double>(listed_pairs(read(queue, state, list, true)).size());
    EXPECT_LT(listed, 3.5 * in_range);
}

// Boxes so large that no row needs exact distances.
TYPED_TEST(GpuPairLists, of_rows_that_measure_from_their_middles_hold_every_pair_and_few_tiles_without_one)
{
    constexpr double cutoff = 1.0, pruned_cutoff = 0.9;
    GpuQueue queue;
    const System system = random_liquid({4.5, 4.4, 4.3}, 2600, 80, 5);
    const ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
    GpuState<TypeParam> state = sorted_gpu_state(queue, particles);
    const GpuPairList list = pruned_list(queue, state, system, cutoff, pruned_cutoff);
    const HostPairList pruned = read(queue, state, list, true);
    expect_complete(pruned, pairs_in_range(particles, system, pruned_cutoff), system);

    const auto x = [&](std::size_t slot) {
        return particles.x.get(static_cast<std::size_t>(std::max(0, pruned.global_of_slot[slot])));
    };
    const auto is_real = [&](std::size_t slot) { return pruned.global_of_slot[slot] >= 0; };
    int tiles = 0, without_a_pair = 0;
    for (std::size_t r = 0; r < pruned.rows.size(); ++r)
    {
        const GpuPairRow& row = pruned.rows[r];
        ASSERT_EQ(row.exact, 0);
        for (std::int32_t e = 0; e < row.pruned; ++e)
        {
            const PairWord word = pruned.entries[static_cast<std::size_t>(row.begin + e)];
            for (std::size_t cluster = 0; cluster < 8; ++cluster)
            {
                if ((word >> cluster & 1) == 0) { continue; }
                bool has_pair = false;
                for (std::size_t pair = 0; pair < 64; ++pair)
                {
                    const std::size_t i = r * supercluster_size + cluster * cluster_size + pair / 8,
                                      j = (word >> 8) * 8 + pair % 8;
                    has_pair =
                        has_pair || (is_real(i) && is_real(j) && norm(particles.box.difference(x(i), x(j))) < pruned_cutoff);
                }
                ++tiles, without_a_pair += has_pair ? 0 : 1;
            }
        }
    }
    EXPECT_GT(tiles, 10000);
    EXPECT_LT(without_a_pair, 0.01 * tiles);
}

TYPED_TEST(GpuPairLists, divide_the_list_into_shares_that_cover_it_in_order)
{
    GpuQueue queue;
    for (const int molecules : {1, 1900})
    {
        const System system = random_liquid({4, 5, 3}, molecules, 80, 3);
        GpuState<TypeParam> state = sorted_gpu_state<TypeParam>(queue, system);
        expect_shares_cover(queue, pruned_list(queue, state, system, 0.9, 0.9));
        expect_shares_cover(queue, pruned_list(queue, state, system, 0.9, 0.9, {60, true}));
    }
}

// More rows than the warps of a block look at once, so that some lie far behind the beginnings of the parts they are added up in.
TYPED_TEST(GpuPairLists, of_many_rows_have_shares_whose_sizes_fall_along_a_line)
{
    GpuQueue queue;
    std::mt19937_64 engine(11);
    std::uniform_real_distribution<double> jitter(-0.08, 0.08);
    std::vector<Vec3<double>> x;
    for (int k = 0; k < 40 * 40 * 30; ++k)
    {
        x.push_back(
            {0.22 * (k % 40) + jitter(engine), 0.22 * (k / 40 % 40) + jitter(engine), 0.22 * (k / 1600) + jitter(engine)});
    }
    const System system = lone_atoms({8.8, 8.8, 6.6}, x);
    GpuState<TypeParam> state = sorted_gpu_state<TypeParam>(queue, system);
    ASSERT_GT(state.superclusters(), 512u);
    const GpuPairList list = pruned_list(queue, state, system, 0.9, 0.9);
    expect_shares_cover(queue, list);

    // Tiles before each row, and before a place in it.
    const std::vector<GpuPairRow> rows = list.busy_rows.to_vector(queue);
    const std::vector<PairWord> entries = list.pruned.to_vector(queue);
    const auto tiles_of = [&](const GpuPairRow& row, int count) {
        double tiles = 0;
        for (int e = row.begin; e < row.begin + count; ++e)
        {
            tiles += std::popcount(entries[static_cast<std::size_t>(e)] & 0xff);
        }
        return tiles;
    };
    std::vector<double> before{0};
    for (const GpuPairRow& row : rows) { before.push_back(before.back() + tiles_of(row, row.pruned)); }
    const std::vector<PairShare> shares = list.shares.to_vector(queue);
    for (std::size_t s = 0; s < shares.size(); ++s)
    {
        const PairPlace& place = shares[s].begin;
        const auto row = static_cast<std::size_t>(place.row);
        const double part = static_cast<double>(s) / static_cast<double>(shares.size() - 1);
        ASSERT_NEAR((before[row] + tiles_of(rows[row], place.entry)) / before.back(), part * (1.3 - part / 2) / 0.8, 0.01) << s;
    }
}

TYPED_TEST(GpuPairLists, of_few_pairs_have_shares_that_shrink_only_where_others_run_beside_them)
{
    GpuQueue queue;
    const System system = random_liquid({4, 5, 3}, 1900, 80, 3);
    GpuState<TypeParam> state = sorted_gpu_state<TypeParam>(queue, system);
    GpuPairList list;
    reserve_pair_list(queue, state, system.box, 0.9, list);
    build_pair_list(queue, state, make_gpu_exclusions(queue, system.topology), 0.9, list);
    // Tiles in the first eighth of the shares that have any, by those in the last.
    const auto first_by_last = [&] {
        prune_pair_list(queue, state, 0.9, list);
        const std::vector<PairShare> shares = list.shares.to_vector(queue);
        const std::vector<GpuPairRow> rows = list.busy_rows.to_vector(queue);
        const std::vector<PairWord> entries = list.pruned.to_vector(queue);
        std::vector<double> tiles;
        for (std::size_t s = 0; s + 1 < shares.size(); ++s)
        {
            const PairPlace next = shares[s + 1].begin;
            int mine = 0;
            for (PairPlace at = shares[s].begin; at.row != next.row || at.entry != next.entry;)
            {
                const GpuPairRow& row = rows[static_cast<std::size_t>(at.row)];
                if (at.entry == row.pruned) { ++at.row, at.entry = 0; }
                else { mine += std::popcount(entries[static_cast<std::size_t>(row.begin + at.entry++)] & 0xff); }
            }
            tiles.push_back(mine);
        }
        while (tiles.back() == 0) { tiles.pop_back(); }
        const auto eighth = static_cast<std::ptrdiff_t>(tiles.size() / 8);
        return std::accumulate(tiles.begin(), tiles.begin() + eighth, 0.0) /
               std::accumulate(tiles.end() - eighth, tiles.end(), 0.0);
    };
    if (queue.multiprocessors() < 64) { GTEST_SKIP() << "so many pairs are not few for a GPU with so few multiprocessors"; }
    EXPECT_NEAR(first_by_last(), 1, 0.25);
    const double shrinking = (1.3 - 1 / 16.0) / (0.3 + 1 / 16.0);
    list.is_beside_mesh = true;
    EXPECT_NEAR(first_by_last(), shrinking, 0.8);
    list.is_all = false; // as if pairs of halo atoms ran beside it
    EXPECT_NEAR(first_by_last(), shrinking, 0.8);
}

TYPED_TEST(GpuPairLists, say_when_there_is_not_room_enough_and_are_complete_with_more)
{
    GpuQueue queue;
    const System system = random_liquid({3, 3, 3}, 700, 50, 3);
    const ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
    GpuState<TypeParam> state = sorted_gpu_state(queue, particles);
    const GpuExclusions exclusions = make_gpu_exclusions(queue, system.topology);
    GpuPairList list;
    reserve_pair_list(queue, state, system.box, 1.0, list);
    list.entries = DeviceBuffer<PairWord>(100), list.pruned = DeviceBuffer<PairWord>(100);
    list.masks = DeviceBuffer<std::uint16_t>(64);
    build_pair_list(queue, state, exclusions, 1.0, list);
    prune_pair_list(queue, state, 1.0, list);
    EXPECT_EQ(state.scalars.to_vector(queue)[0].flags, gpu_flag_list_overflow);
    enlarge_pair_list(queue, list);
    DeviceScalars scalars;
    scalars.set_box<TypeParam>(system.box);
    state.scalars.upload(queue, {&scalars, 1});
    build_pair_list(queue, state, exclusions, 1.0, list);
    prune_pair_list(queue, state, 1.0, list);
    EXPECT_EQ(state.scalars.to_vector(queue)[0].flags, 0u);
    expect_complete(read(queue, state, list, true), pairs_in_range(particles, system, 1.0), system);
}

TYPED_TEST(GpuPairLists, say_when_a_block_cannot_hold_the_neighbours_of_a_supercluster)
{
    // 39 304 atoms in a corner of 0.68 nm: every supercluster is a neighbour of every other.
    std::vector<Vec3<double>> x;
    for (int k = 0; k < 34 * 34 * 34; ++k) { x.push_back({0.02 * (k % 34), 0.02 * (k / 34 % 34), 0.02 * (k / 1156)}); }
    GpuQueue queue;
    const System system = lone_atoms({10, 10, 10}, x);
    GpuState<TypeParam> state = sorted_gpu_state<TypeParam>(queue, system);
    GpuPairList list;
    reserve_pair_list(queue, state, system.box, 0.9, list);
    build_pair_list(queue, state, make_gpu_exclusions(queue, system.topology), 0.9, list);
    EXPECT_NE(state.scalars.to_vector(queue)[0].flags & gpu_flag_scratch_overflow, 0u);
}

TYPED_TEST(GpuPairLists, can_be_captured_and_replayed)
{
    GpuQueue queue;
    const System system = random_liquid({3, 3, 3}, 700, 50, 3);
    const ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
    GpuState<TypeParam> state = sorted_gpu_state(queue, particles);
    const GpuExclusions exclusions = make_gpu_exclusions(queue, system.topology);
    GpuPairList list;
    ReorderScratch<TypeParam> scratch;
    reserve_pair_list(queue, state, system.box, 1.0, list);
    reorder(queue, state, scratch); // allocates
    const GpuGraph graph(queue, [&] {
        reorder(queue, state, scratch);
        build_pair_list(queue, state, exclusions, 1.0, list);
        prune_pair_list(queue, state, 1.0, list);
    });
    for (int i = 0; i < 3; ++i) { graph.replay(queue); }
    expect_complete(read(queue, state, list, true), pairs_in_range(particles, system, 1.0), system);
}
