// SPDX-License-Identifier: Apache-2.0
// Halo atoms have their owners' bits after every exchange and forces find their way back, for every grid, depth and method; and
// the pair list serves while atoms move.
#include "halo_ranks.hpp"

#include <gtest/gtest.h>
#include <set>

using namespace parhelion;
using namespace parhelion::test;

namespace {

template <class N>
class HaloExchange : public ::testing::Test
{
};
using Policies = ::testing::Types<MixedReproducible, Double>;
TYPED_TEST_SUITE(HaloExchange, Policies);

// The displacement of an atom from its place at the last repartition: somewhere within a ball, anew in every step.
Vec3<double> stray(std::int64_t step, std::int32_t atom, double radius)
{
    Vec3<double> d;
    for (int k = 0; k < 3; ++k)
    {
        d[k] = static_cast<double>(hash(step, -2, 3 * static_cast<std::int64_t>(atom) + k)) * 0x1p-63 - 1;
    }
    return (radius / std::max(1.0, norm(d))) * d;
}

} // namespace

TYPED_TEST(HaloExchange, brings_positions_there_and_forces_back_on_every_grid)
{
    using N = TypeParam;
    for (const DomainCase& c : domain_cases())
    {
        int k = 0;
        for (const CellGrid& grid : all_grids())
        {
            for (const double reach : {0.3, 0.95})
            {
                // With reproducible sums and deep halos every method, else each in a third of the cases.
                for (const HaloMethod method : halo_methods)
                {
                    if ((!std::is_same_v<N, MixedReproducible> || reach < 0.5) && ++k % 3 != 0) { continue; }
                    SCOPED_TRACE(testing::Message()
                                 << c.name << ", " << name_of(grid) << ", reach " << reach << ", " << name_of(method));
                    HaloRanks<N> ranks(c.system, {.grid = grid, .method = method, .reach = reach});
                    ranks.repartition();
                    ASSERT_EQ(ranks.exchange(0, 3), 0);
                }
            }
        }
    }
}

TYPED_TEST(HaloExchange, shares_the_work_among_threads)
{
    using N = TypeParam;
    for (const HaloMethod method : halo_methods)
    {
        for (const int threads : {2, 3})
        {
            for (const CellGrid& grid : {CellGrid{{2, 1, 1}}, CellGrid{{1, 1, 5}}})
            {
                HaloRanks<N> ranks(domain_cases()[0].system, {.grid = grid, .method = method, .reach = 0.95, .threads = threads});
                ranks.repartition();
                EXPECT_EQ(ranks.exchange(0, 8), 0) << name_of(method) << ", " << threads << " threads";
            }
        }
    }
}

TEST(HaloExchange, serves_the_pair_list_while_atoms_move_within_the_buffer)
{
    constexpr double cutoff = 0.6, buffer = 0.1; // nm
    for (std::size_t c = 0; c < 4; ++c)
    {
        const System& system = domain_cases()[c].system;
        for (const CellGrid& grid : {CellGrid{{2, 1, 1}}, CellGrid{{1, 3, 1}}, CellGrid{{2, 2, 1}}, CellGrid{{1, 1, 5}},
                                     CellGrid{{2, 1, 3}}, CellGrid{{2, 2, 2}}, CellGrid{{8, 1, 1}}})
        {
            for (const HaloMethod method : halo_methods)
            {
                SCOPED_TRACE(testing::Message() << domain_cases()[c].name << ", " << name_of(grid) << ", " << name_of(method));
                HaloRanks<Mixed> ranks(system, {.grid = grid, .method = method, .reach = cutoff + buffer});
                for (int interval = 0; interval < 3; ++interval)
                {
                    ranks.repartition(interval);
                    const std::int64_t steps = 10 + 20 * interval;
                    const auto start = ranks.domains().positions();
                    ranks.domains().on_ranks([&](DomainRank<Mixed>& r) {
                        ClusterArray<float> none;
                        none.resize(r.state.slots() - r.state.home_slots());
                        for (std::int64_t step = 100 * interval; step < 100 * interval + steps; ++step)
                        {
                            for (std::size_t slot = 0; slot < r.state.home_slots(); ++slot)
                            {
                                const std::int32_t atom = r.state.global_of_slot[slot];
                                if (atom < 0) { continue; }
                                r.state.x.set(slot, r.state.box.displaced(start[static_cast<std::size_t>(atom)],
                                                                          stray(step, atom, 0.499 * buffer)));
                            }
                            ranks.rank(r.comm.rank()).halo().send_coordinates(r.state);
                            ranks.rank(r.comm.rank()).halo().return_forces(none, r.state);
                        }
                    });
                    expect_halo_is_owners(ranks.domains());
                    expect_pairs_listed_once(ranks.domains(), cutoff);
                    if (HasFatalFailure()) { return; }
                }
            }
        }
    }
}

TEST(HaloExchange, has_the_same_bits_with_both_staged_methods)
{
    const System& system = domain_cases()[0].system;
    const auto sums = [&](HaloMethod method) {
        HaloRanks<Mixed> ranks(system, {.grid = {{1, 2, 4}}, .method = method, .reach = 0.95});
        ranks.repartition();
        std::vector<std::vector<float>> all(8);
        ranks.domains().on_ranks([&](DomainRank<Mixed>& r) {
            ClusterArray<float> forces;
            forces.resize(r.state.slots() - r.state.home_slots());
            for (std::size_t i = 0; i < forces.values().size(); ++i)
            {
                forces.values()[i] = static_cast<float>(hash(0, r.comm.rank(), static_cast<std::int64_t>(i))) * 0x1p-60f;
            }
            auto& halo = ranks.rank(r.comm.rank()).halo();
            halo.send_coordinates(r.state);
            halo.return_forces(forces, r.state);
            all[static_cast<std::size_t>(r.comm.rank())].assign(r.state.f.values().begin(), r.state.f.values().end());
        });
        return all;
    };
    EXPECT_EQ(sums(HaloMethod::StagedHost), sums(HaloMethod::StagedFused));
}

TEST(HaloExchange, signals_messages_without_atoms_too)
{
    for (const HaloMethod method : halo_methods)
    {
        WitnessedWorld world;
        HaloRanks<Mixed> ranks(
            domain_cases()[3].system, // all atoms in one domain
            {.grid = {{2, 2, 2}}, .method = method, .reach = 0.3, .network = world.network(PeerAccess::Staged)});
        ranks.repartition();
        std::vector<std::int64_t> before;
        for (int r = 0; r < 8; ++r) { before.push_back(world.witness->puts(r)); }
        EXPECT_EQ(ranks.exchange(0, 5), 0);
        for (int r = 0; r < 8; ++r)
        {
            const auto messages = static_cast<std::int64_t>(ranks.domains().rank(r).plan.messages.size());
            EXPECT_EQ(messages, method == HaloMethod::Direct ? 7 : 3);
            EXPECT_EQ(world.witness->puts(r) - before[static_cast<std::size_t>(r)], 5 * 2 * messages);
        }
    }
}

TEST(HaloExchange, carries_any_number_of_atoms_and_clusters)
{
    for (const HaloMethod method : halo_methods)
    {
        for (const int atoms : {0, 1, 31, 32, 33, 8 * 31, 8 * 32, 8 * 33})
        {
            std::vector<Vec3<double>> x = {{0.8, 0.5, 0.5}};
            for (int k = 0; k < atoms; ++k) { x.push_back({1.55, 0.5, 3.6 * k / (atoms + 1)}); }
            HaloRanks<Mixed> ranks(atoms_at(domain_box, x), {.grid = {{2, 1, 1}}, .method = method, .reach = 0.5});
            ranks.repartition();
            EXPECT_EQ(ranks.exchange(0, 4), 0) << atoms << " atoms, " << name_of(method);
        }
    }
}

TEST(HaloExchange, goes_on_when_its_epochs_wrap)
{
    for (const Word first : {(Word{1} << 31) - 5, (Word{1} << 32) - 5, ~Word{0} - 5})
    {
        for (const HaloMethod method : halo_methods)
        {
            HaloRanks<Mixed> ranks(domain_cases()[0].system,
                                   {.grid = {{1, 1, 5}}, .method = method, .reach = 0.95, .first_epoch = first});
            ranks.repartition();
            EXPECT_EQ(ranks.exchange(0, 20), 0) << first << ", " << name_of(method);
        }
    }
}

TEST(HaloExchange, outlives_changes_of_the_plan_and_of_its_depth)
{
    for (const HaloMethod method : halo_methods)
    {
        HaloRanks<Mixed> ranks(domain_cases()[1].system, {.grid = {{1, 1, 6}}, .method = method, .reach = 0.35});
        std::set<int> depths;
        for (int interval = 0; interval < 12; ++interval)
        {
            ranks.repartition(interval);
            depths.insert(ranks.domains().rank(0).plan.pulses[2]);
            const auto x = ranks.domains().positions();
            ASSERT_EQ(ranks.exchange(100 * interval, 100 * interval + 7), 0) << name_of(method) << ", interval " << interval;
            // A thinner box, whose cells are less than the reach, in every other interval; and everybody moves.
            ranks.domains().on_ranks([&](DomainRank<Mixed>& r) {
                r.state.box.set_edges({3.0, 3.3, interval % 2 == 0 ? 2.4 : 3.6});
                for (std::size_t slot = 0; slot < r.state.home_slots(); ++slot)
                {
                    const std::int32_t atom = r.state.global_of_slot[slot];
                    if (atom < 0) { continue; }
                    const std::int32_t molecule = atom < 300 ? atom / 3 : atom;
                    r.state.x.set(slot, r.state.box.displaced(x[static_cast<std::size_t>(atom)], stray(interval, molecule, 0.3)));
                }
            });
        }
        EXPECT_GT(depths.size(), 1u);
    }
}

TEST(HaloExchange, can_be_run_three_times_in_one_process)
{
    for (int run = 0; run < 3; ++run)
    {
        HaloRanks<Mixed> ranks(domain_cases()[0].system, {.grid = {{2, 2, 1}}, .method = HaloMethod::StagedFused, .reach = 0.6});
        ranks.repartition();
        EXPECT_EQ(ranks.exchange(0, 20), 0);
    }
}
