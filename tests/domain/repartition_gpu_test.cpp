// SPDX-License-Identifier: Apache-2.0
// Atoms divided among ranks on GPUs: every atom is one rank's, the halo is what the exchange buffer says, every pair is in one
// list of one rank; against all pairs, on grids that are thick and thin. The ranks share a GPU.
#include "device/gpu/graph.hpp"
#include "generate/ethanol_water.hpp"
#include "io/input/load.hpp"
#include "support/domain_systems.hpp"
#include "support/exchange_buffers.hpp"
#include "support/gpu_pairs.hpp"
#include "support/gpu_particles.hpp"
#include "support/gpu_ranks.hpp"
#include "support/one_in.hpp"
#include "support/refdata.hpp"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <unistd.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct RepartitionCase
{
    const char* name;
    System system;
    double cutoff, pruned_cutoff;
    double density_factor = 1.5;
};

// Densities of a liquid: where atoms are sparse, clusters are long, and boxes must be larger.
const std::vector<RepartitionCase>& repartition_cases()
{
    static const std::vector<RepartitionCase> cases = [] {
        std::vector<RepartitionCase> all;
        all.push_back({"rigid molecules", with_rigid_molecules(random_liquid({4.6, 5, 4.2}, 2600, 100, 1)), 0.9, 0.7});
        all.push_back({"slab", squeezed(random_liquid({4.6, 5, 8}, 2600, 300, 2), {1, 1, 0.5}), 0.9, 0.7, 3});
        all.push_back(
            {"tilted", with_rigid_molecules(random_liquid({{5.2, 5.6, 4.8}, {2.6, -1.3, 2.8}}, 3700, 100, 3)), 0.8, 0.7});
        all.push_back({"spce", load_refdata("spce").system, 0.6, 0.5});
        all.push_back({"etoh", load_refdata("etoh").system, 0.6, 0.5});
        all.push_back({"villin", load_refdata("villin").system, 0.9, 0.8});
        return all;
    }();
    return cases;
}

const std::vector<CellGrid> grids = {{{1, 1, 1}}, {{2, 1, 1}}, {{1, 1, 4}}, {{2, 2, 1}},
                                     {{2, 2, 2}}, {{8, 1, 1}}, {{1, 3, 2}}, {{3, 1, 6}}};

System series_45k()
{
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("parhelion-repartition-" + std::to_string(::getpid()));
    generate_ethanol_water({}, folder);
    Diagnostics diagnostics;
    System system = load_gromacs({folder / "md.mdp", folder / "conf.gro", folder / "topol.top", {}, {}, {}}, diagnostics).system;
    std::filesystem::remove_all(folder);
    return system;
}

bool exclude_each_other(const Topology& topology, std::int32_t a, std::int32_t b)
{
    const AtomAddress at = topology.locate(a), other = topology.locate(b);
    if (at.molecule_first_atom != other.molecule_first_atom) { return false; }
    const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(at.type)];
    const auto row = type.excluded.begin();
    return std::binary_search(row + type.exclusion_start[static_cast<std::size_t>(at.local)],
                              row + type.exclusion_start[static_cast<std::size_t>(at.local) + 1], other.local);
}

// All pairs nearer than `cutoff` that do not exclude each other, sorted; by trying all.
template <class N>
std::vector<GlobalPair> pairs_within(const ParticleState<N>& whole, const Topology& topology, double cutoff)
{
    const auto atoms = static_cast<std::int32_t>(whole.slot_of_global.size());
    std::vector<Vec3<typename N::Fixed>> x; // in input order
    for (std::int32_t g = 0; g < atoms; ++g) { x.push_back(whole.x.get(static_cast<std::size_t>(g))); }
    std::vector<GlobalPair> pairs;
    for (std::int32_t i = 0; i < atoms; ++i)
    {
        for (std::int32_t j = i + 1; j < atoms; ++j)
        {
            const auto d = whole.box.difference(x[static_cast<std::size_t>(i)], x[static_cast<std::size_t>(j)]);
            if (std::abs(d.x) < cutoff && norm(d) < cutoff && !exclude_each_other(topology, i, j)) { pairs.emplace_back(i, j); }
        }
    }
    return pairs;
}

int owner_of(const CellGrid& grid, const Vec3<std::uint32_t>& x) { return grid.rank_of(grid.cell_at({x.x, x.y, x.z})); }

template <class Fixed>
Vec3<std::uint32_t> leading(const Vec3<Fixed>& x)
{
    return {leading_bits(x.x), leading_bits(x.y), leading_bits(x.z)};
}

// By global atom, from the grid and the topology alone.
template <class N>
std::vector<int> owners(RanksOnGpu<N>& d)
{
    std::vector<int> owner;
    for (std::size_t g = 0; g < d.whole().slot_of_global.size(); ++g)
    {
        const AtomAddress at = d.topology().locate(static_cast<std::int64_t>(g));
        const auto& groups = d.groups().molecule_types[static_cast<std::size_t>(at.type)];
        const auto reference =
            static_cast<std::size_t>(at.molecule_first_atom + groups.reference_of_atom[static_cast<std::size_t>(at.local)]);
        owner.push_back(owner_of(d.grid(), leading(d.whole().x.get(reference))));
    }
    return owner;
}

// Every slot of every rank against the exchange buffer: whose it is, in which zone, with what belongs to it.
template <class N>
void expect_atoms_right(RanksOnGpu<N>& d)
{
    const std::vector<int> owner = owners(d);
    const ParticleState<N>& whole = d.whole();
    std::vector<int> homes(owner.size());
    for (int r = 0; r < d.ranks(); ++r)
    {
        RankOnGpu<N>& rank = d.rank(r);
        const GpuState<N>& state = rank.state;
        const auto xq = state.xq.to_vector(d.queue());
        const auto v = state.v.to_vector(d.queue());
        const auto global_of_slot = state.global_of_slot.to_vector(d.queue());
        const auto slot_of_global = state.slot_of_global.to_vector(d.queue());
        const auto lj_type = state.lj_type.to_vector(d.queue());
        const auto zone_of = state.zone_of_supercluster.to_vector(d.queue());
        const auto first_supercluster = state.first_supercluster.to_vector(d.queue());
        std::size_t here = 0;
        for (std::size_t slot = 0; slot < state.slots; ++slot)
        {
            const int zone = zone_of[slot / supercluster_size];
            const bool is_used = slot / supercluster_size < static_cast<std::size_t>(first_supercluster.back());
            if (slot > 0 && is_used) { ASSERT_GE(zone, zone_of[(slot - 1) / supercluster_size]); }
            if (global_of_slot[slot] < 0)
            {
                ASSERT_EQ(xq[slot].charge, 0);
                ASSERT_EQ(v[slot].inverse_mass, 0);
                continue;
            }
            ASSERT_TRUE(is_used);
            ++here;
            const auto g = static_cast<std::size_t>(global_of_slot[slot]);
            ASSERT_EQ(slot_of_global[g], static_cast<std::int32_t>(slot));
            ASSERT_EQ(
                d.grid().ahead(r, {rank.cell.offset_of(zone, 0), rank.cell.offset_of(zone, 1), rank.cell.offset_of(zone, 2)}),
                owner[g])
                << "atom " << g << " in zone " << zone << " of rank " << r;
            ASSERT_EQ((Vec3<typename N::Fixed>{xq[slot].x, xq[slot].y, xq[slot].z}), whole.x.get(g));
            ASSERT_EQ(xq[slot].charge, whole.charge[g]);
            ASSERT_EQ(lj_type[slot], whole.lj_type[g]);
            homes[g] += zone == 0;
            ASSERT_EQ(v[slot].inverse_mass, zone == 0 ? whole.inverse_mass[g] : 0);
            ASSERT_EQ((Vec3<typename N::Real>{v[slot].x, v[slot].y, v[slot].z}),
                      zone == 0 ? whole.v.get(g) : Vec3<typename N::Real>{});
        }
        const auto known = static_cast<std::size_t>(
            std::count_if(slot_of_global.begin(), slot_of_global.end(), [](std::int32_t slot) { return slot >= 0; }));
        ASSERT_EQ(known, here); // nothing is remembered that is gone
    }
    ASSERT_EQ(std::count(homes.begin(), homes.end(), 1), static_cast<std::ptrdiff_t>(homes.size()));
}

// Of the lists of all ranks, the pairs nearer than `cutoff`: they must be `in_range`, each once.
template <class N>
void expect_pairs_right(RanksOnGpu<N>& d, bool pruned, double cutoff, const std::vector<GlobalPair>& in_range)
{
    std::vector<GlobalPair> listed;
    std::int64_t of_halo_in_local = 0, of_home_in_nonlocal = 0;
    for (int r = 0; r < d.ranks(); ++r)
    {
        RankOnGpu<N>& rank = d.rank(r);
        const auto zone_of = rank.state.zone_of_supercluster.to_vector(d.queue());
        for (const PairPart part : {PairPart::Local, PairPart::Nonlocal})
        {
            const HostPairList list = read(d.queue(), rank.state, part == PairPart::Local ? rank.local : rank.nonlocal, pruned);
            for_every_pair(list, [&](std::size_t i, std::size_t j) {
                const bool both_home = zone_of[i / supercluster_size] == 0 && zone_of[j / supercluster_size] == 0;
                (part == PairPart::Local ? of_halo_in_local : of_home_in_nonlocal) += both_home != (part == PairPart::Local);
                const GlobalPair pair = std::minmax(list.global_of_slot[i], list.global_of_slot[j]);
                const auto a = d.whole().x.get(static_cast<std::size_t>(pair.first)),
                           b = d.whole().x.get(static_cast<std::size_t>(pair.second));
                if (norm(d.whole().box.difference(a, b)) < cutoff) { listed.push_back(pair); }
            });
        }
    }
    EXPECT_EQ(of_halo_in_local, 0);
    EXPECT_EQ(of_home_in_nonlocal, 0);
    std::sort(listed.begin(), listed.end());
    const auto twice = std::adjacent_find(listed.begin(), listed.end());
    ASSERT_TRUE(twice == listed.end()) << twice->first << " " << twice->second << " is listed twice";
    std::vector<GlobalPair> missing, wrong;
    std::set_difference(in_range.begin(), in_range.end(), listed.begin(), listed.end(), std::back_inserter(missing));
    std::set_difference(listed.begin(), listed.end(), in_range.begin(), in_range.end(), std::back_inserter(wrong));
    ASSERT_TRUE(missing.empty()) << missing.size() << " of " << in_range.size() << " pairs are missing, the first "
                                 << missing[0].first << " " << missing[0].second;
    ASSERT_TRUE(wrong.empty()) << "excluded pair " << wrong[0].first << " " << wrong[0].second;
}

template <class N>
void expect_division_right(RanksOnGpu<N>& d, double cutoff, double pruned_cutoff, const std::vector<GlobalPair>& in_list,
                           const std::vector<GlobalPair>& in_range)
{
    ASSERT_EQ(d.flags(), 0u);
    expect_atoms_right(d);
    if (testing::Test::HasFatalFailure()) { return; }
    expect_pairs_right(d, false, cutoff, in_list);
    expect_pairs_right(d, true, pruned_cutoff, in_range);
    for (int r = 0; r < d.ranks(); ++r)
    {
        expect_shares_cover(d.queue(), d.rank(r).local);
        expect_shares_cover(d.queue(), d.rank(r).nonlocal);
    }
}

// The order of a lone rank, written down anew: columns, 16 or 24 bits of column and z, then halves of 64, 32 and 16 in y, x and
// z.
template <class N>
std::vector<std::int32_t> order_of_all(const ParticleState<N>& whole)
{
    const std::size_t atoms = whole.slot_of_global.size();
    const double edge = std::cbrt(whole.box.edges().volume() * supercluster_size / static_cast<double>(atoms));
    const Vec3<double> heights = whole.box.edges().heights();
    const auto nx = static_cast<std::uint64_t>(std::lround(heights.x / edge)),
               ny = static_cast<std::uint64_t>(std::lround(heights.y / edge));
    const auto x_of = [&](std::int32_t g) { return leading(whole.x.get(static_cast<std::size_t>(g))); };
    std::vector<std::vector<std::pair<std::uint32_t, std::int32_t>>> columns(nx * ny);
    for (std::int32_t g = 0; g < static_cast<std::int32_t>(atoms); ++g)
    {
        const Vec3<std::uint32_t> x = x_of(g);
        columns[(nx * x.x >> 32) * ny + (ny * x.y >> 32)].emplace_back(x.z, g);
    }
    std::vector<std::int32_t> order;
    for (auto& column : columns)
    {
        std::sort(column.begin(), column.end());
        for (std::size_t begin = 0; begin < column.size(); begin += supercluster_size)
        {
            std::vector<std::int32_t> of_64(supercluster_size, -1);
            for (std::size_t k = begin; k < std::min<std::size_t>(begin + supercluster_size, column.size()); ++k)
            {
                of_64[k - begin] = column[k].second;
            }
            std::vector<std::size_t> places(supercluster_size);
            for (std::size_t k = 0; k < places.size(); ++k) { places[k] = k; }
            const auto halve = [&](int d, std::ptrdiff_t size) {
                const auto key = [&](std::size_t place) {
                    const std::uint32_t x = of_64[place] < 0 ? ~0u : x_of(of_64[place])[d];
                    return std::pair(x / supercluster_size, place);
                };
                for (auto part = places.begin(); part != places.end(); part += size)
                {
                    std::sort(part, part + size, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
                }
            };
            halve(1, 64), halve(0, 32), halve(2, 16);
            for (const std::size_t place : places) { order.push_back(of_64[place]); }
        }
    }
    return order;
}

template <class N>
class GpuRepartition : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (gpu_count() == 0) { GTEST_SKIP() << "no GPU"; }
    }
};
using Policies = ::testing::Types<Mixed, Double>;
TYPED_TEST_SUITE(GpuRepartition, Policies);

} // namespace

TYPED_TEST(GpuRepartition, gives_every_atom_a_home_and_every_pair_a_place_in_one_list)
{
    GpuQueue queue;
    OneIn combinations;
    for (const RepartitionCase& c : repartition_cases())
    {
        const auto whole = particles_in_input_order<TypeParam>(c.system);
        const auto in_list = pairs_within(whole, c.system.topology, c.cutoff),
                   in_range = pairs_within(whole, c.system.topology, c.pruned_cutoff);
        for (const CellGrid& grid : grids)
        {
            if (!combinations.takes_next()) { continue; }
            SCOPED_TRACE(testing::Message() << c.name << ", " << name_of(grid));
            RanksOnGpu<TypeParam> d(queue, c.system, {.grid = grid, .reach = c.cutoff, .density_factor = c.density_factor});
            d.repartition(c.pruned_cutoff);
            expect_division_right(d, c.cutoff, c.pruned_cutoff, in_list, in_range);
            if (testing::Test::HasFailure()) { return; }
        }
    }
}

TYPED_TEST(GpuRepartition, is_right_or_says_that_it_cannot_be_where_atoms_are_awkward_to_divide)
{
    GpuQueue queue;
    OneIn combinations;
    int right = 0;
    for (const DomainCase& c : domain_cases())
    {
        const auto whole = particles_in_input_order<TypeParam>(c.system);
        const auto in_range = pairs_within(whole, c.system.topology, 0.3);
        for (const CellGrid& grid : grids)
        {
            if (!combinations.takes_next()) { continue; }
            SCOPED_TRACE(testing::Message() << c.name << ", " << name_of(grid));
            RanksOnGpu<TypeParam> d(queue, c.system,
                                    {.grid = grid, .reach = 0.3, .density_factor = static_cast<double>(27 * grid.ranks())});
            d.repartition(0.3);
            expect_atoms_right(d);
            if (d.flags() == 0)
            {
                ++right;
                expect_division_right(d, 0.3, 0.3, in_range, in_range);
            }
            else { EXPECT_EQ(d.flags(), gpu_flag_ambiguous); }
            if (testing::Test::HasFailure()) { return; }
        }
    }
    EXPECT_GE(right, combinations.taken() / 2);
}

TYPED_TEST(GpuRepartition, of_a_lone_rank_is_the_order_of_columns_and_halves)
{
    GpuQueue queue;
    for (const RepartitionCase& c : repartition_cases())
    {
        const auto particles = particles_in_input_order<TypeParam>(c.system);
        std::vector<std::int32_t> expected = order_of_all(particles);
        RanksOnGpu<TypeParam> d(queue, c.system, {.grid = {{1, 1, 1}}, .reach = c.cutoff});
        d.take(0);
        expected.resize(d.rank(0).state.slots, -1);
        EXPECT_EQ(d.rank(0).state.global_of_slot.to_vector(queue), expected) << c.name;
        EXPECT_EQ(sorted_gpu_state(queue, particles).global_of_slot.to_vector(queue), expected) << c.name;
    }
}

TYPED_TEST(GpuRepartition, can_be_captured_and_replayed_with_atoms_elsewhere)
{
    GpuQueue queue;
    System system = repartition_cases()[0].system;
    RanksOnGpu<TypeParam> d(queue, system, {.grid = {{2, 1, 2}}, .reach = 0.8});
    d.repartition(0.7); // allocates
    const GpuGraph graph(queue, [&] { d.repartition(0.7); });
    std::mt19937_64 engine(11);
    std::normal_distribution<double> normal(0, 0.2);
    for (int repetition = 0; repetition < 2; ++repetition)
    {
        for (std::size_t first = 0; first < system.x.size();)
        {
            const Vec3<double> step{normal(engine), normal(engine), normal(engine)};
            const AtomAddress at = system.topology.locate(static_cast<std::int64_t>(first));
            const std::size_t end = first + system.topology.molecule_types[static_cast<std::size_t>(at.type)].atoms.size();
            for (; first < end; ++first) { system.x[first] += step; }
        }
        d.move(system);
        graph.replay(queue);
        expect_division_right(d, 0.8, 0.7, pairs_within(d.whole(), system.topology, 0.8),
                              pairs_within(d.whole(), system.topology, 0.7));
    }
}

TYPED_TEST(GpuRepartition, gives_ranks_by_what_others_publish_the_atoms_that_they_would_find_themselves)
{
    GpuQueue queue;
    for (const CellGrid& grid : {CellGrid{{4, 1, 1}}, CellGrid{{2, 2, 2}}, CellGrid{{1, 8, 1}}})
    {
        SCOPED_TRACE(name_of(grid));
        System system = repartition_cases()[0].system;
        for (std::size_t i = 0; i < system.x.size(); ++i) { system.v.push_back({0.25 * static_cast<double>(i), 1, -2}); }
        RanksOnGpu<TypeParam> d(queue, system, {.grid = grid, .reach = 0.8, .density_factor = 2}),
            complete(queue, system, {.grid = grid, .reach = 0.8, .density_factor = 2});
        const EmptyExchangeBuffers<TypeParam> exchange_buffers(d);
        for (int r = 0; r < d.ranks(); ++r) { d.take(r); }
        std::vector<PositionCharge<TypeParam>> whole = d.positions().to_vector(queue);
        std::size_t sent = 0, homes_elsewhere = 0;
        for (int repetition = 0; repetition < 3; ++repetition)
        {
            move_molecules(d, whole);
            complete.put_in_exchange_buffer(whole);
            const std::vector<std::int32_t> before = d.rank(0).state.slot_of_global.to_vector(queue);
            for (int r = 0; r < d.ranks(); ++r) { publish_atoms(queue, d.rank(r).state, d.table(), exchange_buffers.all); }
            for (int r = 0; r < d.ranks(); ++r)
            {
                const auto of_rank = static_cast<std::size_t>(r);
                sent += static_cast<std::size_t>(exchange_buffers.marked(queue, of_rank));
                take_atoms(queue, exchange_buffers.of_rank[of_rank], d.table(), d.rank(r).scratch, d.rank(r).state);
                EXPECT_EQ(exchange_buffers.marked(queue, of_rank), 0);
                complete.take(r);
                const GpuState<TypeParam>&taken = d.rank(r).state, &expected = complete.rank(r).state;
                EXPECT_TRUE(same_bits(queue, taken.global_of_slot, expected.global_of_slot));
                EXPECT_TRUE(same_bits(queue, taken.slot_of_global, expected.slot_of_global));
                EXPECT_TRUE(same_bits(queue, taken.zone_of_supercluster, expected.zone_of_supercluster));
                EXPECT_TRUE(same_bits(queue, taken.xq, expected.xq));
                EXPECT_TRUE(same_bits(queue, taken.v, expected.v));
                EXPECT_EQ(taken.scalars.to_vector(queue)[0].flags, 0u);
            }
            const std::vector<std::int32_t> after = d.rank(0).state.slot_of_global.to_vector(queue);
            for (std::size_t g = 0; g < after.size(); ++g) { homes_elsewhere += before[g] < 0 && after[g] >= 0 ? 1 : 0; }
            if (testing::Test::HasFailure()) { return; }
        }
        EXPECT_GT(homes_elsewhere, 0u);
        EXPECT_LT(sent, 3 * static_cast<std::size_t>(d.ranks()) * whole.size()); // not everything to everybody
    }
}

TYPED_TEST(GpuRepartition, leaves_states_from_which_their_exchange_buffer_can_be_collected)
{
    GpuQueue queue;
    System system = repartition_cases()[0].system;
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.v.push_back({0.25 * static_cast<double>(i), 1, -2}); }
    RanksOnGpu<TypeParam> d(queue, system, {.grid = {{2, 2, 2}}, .reach = 0.8});
    d.repartition(0.8);
    const EmptyExchangeBuffers<TypeParam> exchange_buffers(d);
    const auto collect_all = [&] {
        for (int r = 0; r < d.ranks(); ++r) { collect_atoms(queue, d.rank(r).state, exchange_buffers.all); }
    };
    collect_all();
    EXPECT_TRUE(same_bits(queue, exchange_buffers.x[0], d.positions()));
    EXPECT_TRUE(same_bits(queue, exchange_buffers.v[0], d.velocities()));
    EXPECT_EQ(exchange_buffers.marked(queue, 0), 0);
}

TYPED_TEST(GpuRepartition, leaves_exchange_buffers_alone_where_a_state_has_a_flag)
{
    GpuQueue queue;
    const System system = repartition_cases()[0].system;
    RanksOnGpu<TypeParam> d(queue, system, {.grid = {{2, 2, 2}}, .reach = 0.8});
    d.repartition(0.8);
    const EmptyExchangeBuffers<TypeParam> exchange_buffers(d);
    for (int r = 0; r < d.ranks(); ++r)
    {
        auto scalars = d.rank(r).state.scalars.to_vector(queue);
        scalars[0].flags = gpu_flag_unstable_atom;
        d.rank(r).state.scalars.upload(queue, scalars);
        publish_atoms(queue, d.rank(r).state, d.table(), exchange_buffers.all);
        collect_atoms(queue, d.rank(r).state, exchange_buffers.all);
    }
    for (std::size_t r = 0; r < exchange_buffers.of_rank.size(); ++r)
    {
        EXPECT_EQ(exchange_buffers.marked(queue, r), 0);
        for (const auto& p : exchange_buffers.v[r].to_vector(queue)) { ASSERT_EQ(p.inverse_mass, 0); }
    }
    // Ranks then take no atoms, and have none.
    take_atoms(queue, exchange_buffers.of_rank[0], d.table(), d.rank(0).scratch, d.rank(0).state);
    for (const std::int32_t global : d.rank(0).state.global_of_slot.to_vector(queue)) { ASSERT_EQ(global, -1); }
}

TYPED_TEST(GpuRepartition, says_when_there_are_more_atoms_than_slots_and_is_right_with_more)
{
    GpuQueue queue;
    const System system = squeezed(random_liquid({6, 6, 12}, 1000, 100, 5), {1, 1, 0.3});
    RanksOnGpu<TypeParam> d(queue, system, {.grid = {{1, 1, 2}}, .reach = 0.7, .density_factor = 1});
    d.repartition(0.7);
    EXPECT_NE(d.rank(0).state.scalars.to_vector(queue)[0].flags & gpu_flag_slot_overflow, 0u);
    EXPECT_EQ(d.rank(1).state.scalars.to_vector(queue)[0].flags & gpu_flag_slot_overflow, 0u);
    d.reserve(2);
    d.repartition(0.7);
    const auto in_range = pairs_within(d.whole(), system.topology, 0.7);
    expect_division_right(d, 0.7, 0.7, in_range, in_range);
}

TYPED_TEST(GpuRepartition, says_when_atoms_have_left_their_cells_or_the_box_has_shrunk)
{
    GpuQueue queue;
    System system = repartition_cases()[0].system;
    const auto flags_after = [&](RanksOnGpu<TypeParam>& d) {
        d.take(0);
        return d.rank(0).state.scalars.to_vector(queue)[0].flags;
    };
    RanksOnGpu<TypeParam> shrunk(queue, system, {.grid = {{4, 1, 1}}, .reach = 0.9});
    EXPECT_EQ(flags_after(shrunk), 0u);
    auto scalars = shrunk.rank(0).state.scalars.to_vector(queue);
    scalars[0].template set_box<TypeParam>(0.9 * system.box);
    shrunk.rank(0).state.scalars.upload(queue, scalars);
    EXPECT_EQ(flags_after(shrunk), gpu_flag_ambiguous);

    // A hydrogen half a nanometre behind the lower border, its oxygen in front of it.
    system.x[0] = {0.01, 1, 1}, system.x[1] = {-0.5, 1, 1}, system.x[2] = {0.1, 1, 1};
    RanksOnGpu<TypeParam> strayed(queue, system, {.grid = {{2, 1, 1}}, .reach = 0.9});
    EXPECT_EQ(flags_after(strayed), gpu_flag_ambiguous);
}

TYPED_TEST(GpuRepartition, says_when_pairs_may_meet_both_ways_around_the_box)
{
    GpuQueue queue;
    const System system = random_liquid({2.1, 4, 4}, 900, 10, 3);
    RanksOnGpu<TypeParam> d(queue, system, {.grid = {{2, 1, 1}}, .reach = 1.0});
    d.repartition(1.0);
    EXPECT_EQ(d.flags(), gpu_flag_ambiguous);
}

TEST(GpuRepartition45k, is_right_on_thick_and_thin_grids)
{
    if (gpu_count() == 0) { GTEST_SKIP() << "no GPU"; }
    GpuQueue queue;
    const System system = series_45k();
    const auto whole = particles_in_input_order<Mixed>(system);
    const auto in_list = pairs_within(whole, system.topology, 1.0), in_range = pairs_within(whole, system.topology, 0.9);
    for (const CellGrid& grid : {CellGrid{{2, 2, 2}}, CellGrid{{8, 1, 1}}})
    {
        SCOPED_TRACE(name_of(grid));
        RanksOnGpu<Mixed> d(queue, system, {.grid = grid, .reach = 1.0});
        d.repartition(0.9);
        expect_division_right(d, 1.0, 0.9, in_list, in_range);
    }
}

TEST(GpuCell, has_the_borders_of_the_grid_and_room_for_what_strays)
{
    for (const CellGrid& grid : all_grids())
    {
        for (int r = 0; r < grid.ranks(); ++r)
        {
            const GpuCell cell = make_gpu_cell(grid, r, {8, 8, 8}, 1.0, 0.1);
            for (int d = 0; d < 3; ++d)
            {
                const auto k = static_cast<std::size_t>(d);
                ASSERT_EQ(cell.is_divided(d), grid.cells[k] > 1);
                const std::uint64_t lower = grid.lower(d, cell.cell[d]);
                ASSERT_EQ(cell.lower[d], lower);
                if (!cell.is_divided(d))
                {
                    ASSERT_EQ(cell.pulses[d], 0);
                    ASSERT_EQ(cell.unrolled(d, 17), 17u);
                    continue;
                }
                ASSERT_EQ(cell.width[d], grid.lower(d, cell.cell[d] + 1) - lower);
                ASSERT_GT(cell.unrolled(d, cell.lower[d]), 0.1 / 8 * 0x1p32);
                ASSERT_TRUE(cell.pulses[d] == grid.cells[k] - 1 || cell.pulses[d] * 8.0 / grid.cells[k] >= 1.2);
            }
            ASSERT_EQ(cell.is_everything(), false);
            ASSERT_EQ(cell.offset_of(cell.zones() - 1, 0), cell.pulses[0]);
        }
    }
}

TEST(GpuCell, leaves_room_for_the_longest_way_along_constraints)
{
    System system = random_liquid({3, 3, 3}, 2, 1, 1);
    EXPECT_EQ(longest_overhang(system.topology, make_update_groups(system.topology)), 0);
    MoleculeType& type = system.topology.molecule_types[0];
    type.constraints = {{0, 1, 0.1}, {1, 2, 0.15}}; // the reference atom is in the middle
    const double overhang = longest_overhang(system.topology, make_update_groups(system.topology));
    EXPECT_GE(overhang, 0.15);
    EXPECT_LT(overhang, 0.16);
    // A virtual site beyond the end of a bond, on its line: twice as far as its atom 2 and once as far as the reference atom.
    type.atoms.push_back(type.atoms[0]);
    type.sites = {{SiteKind::Linear, static_cast<std::int32_t>(type.atoms.size()) - 1, {1, 2}, {2}}};
    const double with_site = longest_overhang(system.topology, make_update_groups(system.topology));
    EXPECT_GE(with_site, 0.3);
    EXPECT_LT(with_site, 0.32);
}

TEST(GpuCell, leaves_room_for_atoms_that_sites_tie_together)
{
    System system = random_liquid({3, 3, 3}, 2, 1, 1);
    MoleculeType& type = system.topology.molecule_types[0];
    ASSERT_GE(type.atoms.size(), 3u);
    type.atoms.push_back(type.atoms[0]);
    const auto site = static_cast<std::int32_t>(type.atoms.size()) - 1;
    const auto overhang = [&](SiteKind kind, std::vector<double> parameters, const AtomDistance& distance) {
        type.sites = {{kind, site, {0, 1, 2}, std::move(parameters)}};
        return longest_overhang(system.topology, make_update_groups(system.topology), distance);
    };
    // Held by constraints to atom 0, the reference atom.
    type.constraints = {{0, 1, 0.1}, {0, 2, 0.1}};
    const AtomDistance nobodys = [](std::int64_t, std::int64_t) -> double { throw std::logic_error("asked for"); };
    EXPECT_NEAR(overhang(SiteKind::FixedDistance3, {0.5, -0.3}, nobodys), 1.05 * 0.3, 1e-12);
    EXPECT_NEAR(overhang(SiteKind::FixedAngle3, {0.3, 0.4}, nobodys), 1.05 * 0.5, 1e-12);
    EXPECT_NEAR(overhang(SiteKind::OutOfPlane3, {0.5, 0.5, 20}, nobodys), 1.05 * (0.1 + 20 * 0.01), 1e-12);
    // Not held. The reference atom is the site.
    type.constraints.clear();
    const std::size_t atoms = type.atoms.size();
    const auto apart = [&](std::int64_t a, std::int64_t) { return static_cast<std::size_t>(a) == atoms + 1 ? 0.4 : 0.1; };
    EXPECT_NEAR(overhang(SiteKind::Mean, {0.2, 0.3}, apart), 1.5 * 0.4, 1e-12);
}

// us per step on H200: bench/gpu/scaling.
TEST(GpuCell, divides_boxes_by_the_grid_that_was_measured_to_be_fastest)
{
    struct Measured
    {
        std::int64_t atoms;
        Vec3<double> box;
        std::map<std::array<int, 3>, double> of_two, of_four;
    };
    constexpr std::array<int, 3> x2{2, 1, 1}, y2{1, 2, 1}, z2{1, 1, 2}, x4{4, 1, 1}, y4{1, 4, 1}, z4{1, 1, 4}, xy{2, 2, 1},
        xz{2, 1, 2}, yz{1, 2, 2};
    const std::vector<Measured> all = {
        {45000,
         {7.65, 7.65, 7.65},
         {{x2, 41.7}, {y2, 41.7}, {z2, 42.1}},
         {{x4, 32.7}, {y4, 32.2}, {z4, 32.5}, {xy, 33.7}, {xz, 33.9}, {yz, 33.7}}},
        {90000,
         {15.29, 7.65, 7.65},
         {{x2, 61.3}, {y2, 61.9}, {z2, 63.2}},
         {{x4, 42.2}, {y4, 42.2}, {z4, 44.0}, {xy, 44.0}, {xz, 44.1}, {yz, 44.2}}},
        {180000,
         {15.29, 15.29, 7.65},
         {{x2, 102.4}, {y2, 103.1}, {z2, 105.7}},
         {{x4, 62.1}, {y4, 62.7}, {z4, 66.6}, {xy, 64.1}, {xz, 65.2}, {yz, 65.1}}},
        {360000,
         {15.29, 15.29, 15.29},
         {{x2, 185.1}, {y2, 185.8}, {z2, 186.1}},
         {{x4, 104.4}, {y4, 104.4}, {z4, 106.8}, {xy, 105.9}, {xz, 106.7}, {yz, 107.2}}},
        {720000,
         {30.58, 15.29, 15.29},
         {{x2, 350.4}, {y2, 353.3}, {z2, 356.6}},
         {{x4, 187.2}, {y4, 190.5}, {z4, 195.9}, {xy, 190.2}, {xz, 191.6}, {yz, 194.2}}},
    };
    for (const Measured& m : all)
    {
        for (const auto* times : {&m.of_two, &m.of_four})
        {
            const int ranks = times == &m.of_two ? 2 : 4;
            const std::optional<CellGrid> grid = find_grid(ranks, m.box, gpu_grid_criteria(1.267, 0.05, m.atoms, m.box));
            ASSERT_TRUE(grid);
            double least = INFINITY;
            for (const auto& [cells, us] : *times) { least = std::min(least, us); }
            EXPECT_LE(times->at(grid->cells), 1.02 * least) << m.atoms << " atoms, " << ranks << " ranks";
        }
    }
}

TEST(GpuCell, divides_boxes_by_a_grid_that_gpus_can_exchange_halos_of_if_there_is_one)
{
    constexpr double reach = 1.27, overhang = 0.1;
    const auto can_exchange = [&](const CellGrid& grid, const Vec3<double>& box) {
        const GpuCell cell = make_gpu_cell(grid, 0, box, reach, overhang);
        return std::max(cell.pulses[0], cell.pulses[1]) < GpuStrips::most_offsets && cell.zones() - 1 <= most_gpu_messages;
    };
    for (const Vec3<double>& box : {Vec3<double>{6.2, 6.2, 6.2}, {2.9, 5, 5}, {7.65, 7.65, 7.65}, {5, 40, 5}, {5, 5, 40}})
    {
        const GridCriteria criteria = gpu_grid_criteria(reach, overhang, 24000, box);
        for (int ranks = 2; ranks <= 64; ++ranks)
        {
            const std::optional<CellGrid> chosen = find_grid(ranks, box, criteria);
            if (!chosen || can_exchange(*chosen, box)) { continue; }
            for (int x = 1; x <= ranks; ++x)
            {
                for (int y = 1; y * x <= ranks; ++y)
                {
                    const CellGrid grid{{x, y, ranks / (x * y)}};
                    if (grid.ranks() != ranks) { continue; }
                    bool fits = true;
                    for (int d = 0; d < 3; ++d) { fits = fits && (grid.cells[d] == 1 || box[d] > 2 * criteria.half_edge[d]); }
                    EXPECT_FALSE(fits && can_exchange(grid, box)) << ranks << " ranks: " << x << "x" << y << "x" << grid.cells[2];
                }
            }
        }
    }
}
