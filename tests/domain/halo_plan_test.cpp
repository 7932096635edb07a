// SPDX-License-Identifier: Apache-2.0
// Every grid over systems that are awkward to divide: the halo is its owners', every pair is listed once, every term is one
// rank's.
#include "domain/ownership.hpp"
#include "support/domain_systems.hpp"

#include <gtest/gtest.h>
#include <set>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr double reaches[] = {0.3, 0.6, 0.95}; // nm

// Calls check(decomposition) after the first repartition of every case on every grid, with every pattern and reach.
template <class N, class Check>
void for_every_division(Check&& check)
{
    std::vector<CellGrid> grids = all_grids();
    for (CellGrid& grid : uneven_grids()) { grids.push_back(std::move(grid)); }
    for (const DomainCase& c : domain_cases())
    {
        for (const CellGrid& grid : grids)
        {
            for (const HaloPattern pattern : {HaloPattern::Staged, HaloPattern::Direct})
            {
                for (const double reach : reaches)
                {
                    SCOPED_TRACE(testing::Message() << c.name << ", " << name_of(grid) << ", reach " << reach
                                                    << (pattern == HaloPattern::Staged ? ", staged" : ", direct"));
                    Decomposition<N> d(c.system, {.grid = grid, .pattern = pattern, .reach = reach});
                    d.repartition();
                    check(d, reach);
                    if (testing::Test::HasFatalFailure()) { return; }
                }
            }
        }
    }
}

// Is every molecule's chain of atoms one rank's, and do the ranks that have an atom of it know of it?
template <class N>
void expect_terms_assigned_once(Decomposition<N>& d)
{
    const std::vector<MoleculeList> here = [&] {
        std::vector<MoleculeList> lists;
        for (int r = 0; r < d.ranks(); ++r) { lists.push_back(molecules_here(d.topology(), d.rank(r).state)); }
        return lists;
    }();
    for (std::int32_t first = 0; first < d.topology().blocks[0].count * 3 && d.topology().blocks[0].type == 0; first += 3)
    {
        for (int count = 1; count <= 3; ++count)
        {
            const std::int32_t atoms[] = {first + 2, first, first + 1};
            int claims = 0;
            for (int r = 0; r < d.ranks(); ++r)
            {
                if (!is_mine(d.rank(r).state, atoms, count)) { continue; }
                ++claims;
                const auto& copies = here[static_cast<std::size_t>(r)].first_atom[0];
                ASSERT_TRUE(std::binary_search(copies.begin(), copies.end(), first));
            }
            ASSERT_EQ(claims, 1) << count << " atoms of the molecule that begins with atom " << first;
        }
    }
}

} // namespace

TEST(HaloPlan, gives_every_rank_its_owners_atoms_and_lists_every_pair_once)
{
    std::set<int> pulses;
    for_every_division<Mixed>([&](Decomposition<Mixed>& d, double reach) {
        expect_halo_is_owners(d);
        expect_pairs_listed_once(d, reach);
        expect_terms_assigned_once(d);
        for (const int p : d.rank(0).plan.pulses) { pulses.insert(p); }
    });
    for (const int p : {1, 2, 3}) { EXPECT_EQ(pulses.count(p), 1u) << "no halo was " << p << " pulses deep"; }
}

TEST(HaloPlan, has_no_atoms_of_the_far_end_of_a_wide_cell)
{
    CellGrid grid{{2, 1, 1}};
    grid.borders[0] = {0xc0000000u};
    // In a cell of 0 to 2.25 nm: 0.1, 1.9 and 2.2 nm from the upper end of the other cell.
    for (const auto& [x, copies] : {std::pair(0.1, 1u), {1.9, 0u}, {2.2, 0u}})
    {
        Decomposition<Mixed> d(atoms_at(domain_box, {{x, 1, 1}}), {.grid = grid, .reach = 0.3});
        d.repartition();
        EXPECT_EQ(d.rank(1).plan.halo_clusters(), copies) << x;
    }
}

TEST(HaloPlan, knows_positions_of_64_bits)
{
    for (const HaloPattern pattern : {HaloPattern::Staged, HaloPattern::Direct})
    {
        for (const CellGrid& grid : {CellGrid{{2, 1, 1}}, CellGrid{{1, 2, 3}}, CellGrid{{8, 1, 1}}})
        {
            Decomposition<Double> d(domain_cases()[0].system, {.grid = grid, .pattern = pattern, .reach = 0.95});
            d.repartition();
            expect_halo_is_owners(d);
            expect_pairs_listed_once(d, 0.95);
        }
    }
}

TEST(HaloPlan, sends_any_number_of_atoms_and_clusters)
{
    for (const HaloPattern pattern : {HaloPattern::Staged, HaloPattern::Direct})
    {
        for (const int atoms : {0, 1, 31, 32, 33, 8 * 31, 8 * 32, 8 * 33})
        {
            // In one column, behind the border of the second cell; the first cell has an atom beyond everyone's reach.
            std::vector<Vec3<double>> x = {{0.8, 0.5, 0.5}};
            for (int k = 0; k < atoms; ++k) { x.push_back({1.55, 0.5, 3.6 * k / (atoms + 1)}); }
            Decomposition<Mixed> d(atoms_at(domain_box, x), {.grid = {{2, 1, 1}}, .pattern = pattern, .reach = 0.5});
            d.repartition();
            EXPECT_EQ(d.rank(0).plan.halo_clusters(), static_cast<std::size_t>((atoms + 7) / 8));
            EXPECT_EQ(d.rank(1).plan.halo_clusters(), 0u);
            expect_halo_is_owners(d);
            expect_pairs_listed_once(d, 0.5);
        }
    }
}

TEST(HaloPlan, is_the_same_for_any_number_of_threads)
{
    const System& system = domain_cases()[1].system;
    Decomposition<Mixed> one(system, {.grid = {{2, 2, 1}}, .pattern = HaloPattern::Staged, .reach = 0.6});
    Decomposition<Mixed> three(system, {.grid = {{2, 2, 1}}, .pattern = HaloPattern::Staged, .reach = 0.6, .threads = 3});
    one.repartition();
    three.repartition();
    for (int r = 0; r < 4; ++r)
    {
        EXPECT_EQ(one.rank(r).state.global_of_slot, three.rank(r).state.global_of_slot);
        EXPECT_EQ(one.rank(r).state.x.values(), three.rank(r).state.x.values());
    }
    expect_pairs_listed_once(three, 0.6);
}

TEST(HaloPlan, ends_when_the_box_has_become_too_small)
{
    Decomposition<Mixed> d(domain_cases()[0].system, {.grid = {{2, 1, 1}}, .reach = 0.95});
    try
    {
        d.on_ranks([&](DomainRank<Mixed>& r) {
            r.state.box.set_edges({1.8, 3.3, 3.6});
            d.repartition(r, 17);
        });
        FAIL() << "no error";
    }
    catch (const PhysicsError& error)
    {
        EXPECT_EQ(error.step(), 17);
        EXPECT_NE(std::string(error.what()).find("E505"), std::string::npos) << error.what();
    }
}
