// SPDX-License-Identifier: Apache-2.0
// Borders that move by times: where they end for work that is known, the limits of cells, and noise.
#include "domain/load_balance.hpp"
#include "support/decomposition.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

using Density = std::function<double(const Vec3<double>&)>; // of the work at a place, in box edges

// The work of each rank: the sum of the density over points in its cell.
std::vector<RankWork> work_of(const CellGrid& grid, const Density& density, double other = 0)
{
    const int points = grid.ranks() == std::max({grid.cells[0], grid.cells[1], grid.cells[2]}) ? 400 : 16; // of a cell's edge
    std::vector<RankWork> work(static_cast<std::size_t>(grid.ranks()), {.of_atoms = 0, .other = other});
    const auto count = [&](std::size_t d) { return grid.cells[d] == 1 ? 1 : points; };
    for (int rank = 0; rank < grid.ranks(); ++rank)
    {
        const std::array<int, 3> cell = grid.cell_of(rank);
        Vec3<double> low, step;
        double volume = 1;
        for (int d = 0; d < 3; ++d)
        {
            const auto k = static_cast<std::size_t>(d);
            const double width = static_cast<double>(grid.width(d, cell[k])) * 0x1p-32;
            low[d] = static_cast<double>(grid.lower(d, cell[k])) * 0x1p-32, step[d] = width / count(k);
            volume *= step[d];
        }
        for (int x = 0; x < count(0); ++x)
        {
            for (int y = 0; y < count(1); ++y)
            {
                for (int z = 0; z < count(2); ++z)
                {
                    const Vec3<double> at{low.x + (x + 0.5) * step.x, low.y + (y + 0.5) * step.y, low.z + (z + 0.5) * step.z};
                    work[static_cast<std::size_t>(rank)].of_atoms += volume * density(at);
                }
            }
        }
    }
    return work;
}

double of_slab(const Vec3<double>& at) { return at.z < 0.4 ? 1 : 0; } // 60 % of the box are empty

double border(const CellGrid& grid, int d, int c) { return static_cast<double>(grid.lower(d, c)) * 0x1p-32; }

constexpr std::array<double, 3> any_thickness{};

} // namespace

TEST(Imbalance, is_the_excess_of_the_slowest_over_the_mean)
{
    EXPECT_DOUBLE_EQ(imbalance(std::vector<RankWork>{{2, 1}, {0, 1}}), 0.5);
    EXPECT_DOUBLE_EQ(imbalance(std::vector<RankWork>{{1, 0}, {1, 0}, {1, 0}}), 0);
    EXPECT_DOUBLE_EQ(imbalance(std::vector<RankWork>{{0, 0}, {0, 0}}), 0);
}

TEST(Borders, of_equal_work_stay_where_they_are)
{
    for (const CellGrid& grid : all_grids())
    {
        const std::vector<RankWork> work(static_cast<std::size_t>(grid.ranks()), {.of_atoms = 3, .other = 1});
        const CellGrid moved = with_moved_borders(grid, work, any_thickness);
        for (int d = 0; d < 3; ++d)
        {
            for (int c = 0; c <= grid.cells[static_cast<std::size_t>(d)]; ++c)
            {
                EXPECT_NEAR(border(moved, d, c), border(grid, d, c), 1e-9) << name_of(grid);
            }
        }
    }
}

TEST(Borders, of_a_slab_go_to_equal_parts_of_it)
{
    for (const int ranks : {2, 3, 4, 8})
    {
        CellGrid grid{{1, 1, ranks}};
        LoadBalancer balancer(Balancing::Auto, any_thickness);
        for (int k = 0; k < 60; ++k)
        {
            if (auto moved = balancer.consider(grid, work_of(grid, of_slab))) { grid = std::move(*moved); }
        }
        for (int c = 1; c < ranks; ++c) { EXPECT_NEAR(border(grid, 2, c), 0.4 * c / ranks, 0.02) << ranks << " ranks"; }
        EXPECT_LT(balancer.record().imbalance, 0.05) << ranks << " ranks";
        EXPECT_NEAR(balancer.record().first_imbalance, imbalance(work_of({{1, 1, ranks}}, of_slab)), 1e-12);
        EXPECT_GT(balancer.record().moves, 0);
    }
}

TEST(Borders, of_a_grid_follow_the_work_along_each_dimension)
{
    // The density is a product of functions of one coordinate. Only then one list of borders for each dimension can be perfect.
    const auto density = [](const Vec3<double>& at) { return (1 + 3 * at.x) * (at.y < 0.3 ? 1.0 : 0.2) * (2 - at.z); };
    CellGrid grid{{2, 2, 2}};
    LoadBalancer balancer(Balancing::On, any_thickness);
    for (int k = 0; k < 40; ++k)
    {
        if (auto moved = balancer.consider(grid, work_of(grid, density))) { grid = std::move(*moved); }
    }
    EXPECT_LT(imbalance(work_of(grid, density)), 0.05);
    EXPECT_NEAR(border(grid, 0, 1), (std::sqrt(1 + 6 * 1.25) - 1) / 3, 0.02); // x + 1.5 x^2 = 2.5 / 2
    EXPECT_NEAR(border(grid, 1, 1), 0.22 / 1, 0.02);                          // 0.3 + 0.2 * 0.7 = 0.44 in all
    EXPECT_NEAR(border(grid, 2, 1), 2 - std::sqrt(4 - 1.5), 0.02);            // 2 z - z^2 / 2 = 1.5 / 2
}

TEST(Borders, leave_cells_their_thickness_and_cross_no_other_cell)
{
    std::mt19937_64 engine(5);
    std::exponential_distribution<double> some;
    for (const CellGrid& equal : all_grids())
    {
        const std::array<double, 3> thinnest{0.8 / equal.cells[0], 0.5 / equal.cells[1], 0.1 / equal.cells[2]};
        CellGrid grid = equal;
        for (int k = 0; k < 50; ++k)
        {
            std::vector<RankWork> work(static_cast<std::size_t>(grid.ranks()));
            for (RankWork& rank : work) { rank.of_atoms = k % 7 == 0 ? 0 : std::pow(some(engine), 3); }
            const CellGrid moved = with_moved_borders(grid, work, thinnest);
            for (int d = 0; d < 3; ++d)
            {
                const int n = grid.cells[static_cast<std::size_t>(d)];
                for (int c = 0; c < n; ++c)
                {
                    EXPECT_GE(border(moved, d, c + 1) - border(moved, d, c), thinnest[static_cast<std::size_t>(d)] - 1e-9);
                    // Atoms of cell c are in cells c - 1 to c + 1 afterwards.
                    if (c > 0) { EXPECT_LE(moved.lower(d, c - 1), grid.lower(d, c)); }
                    if (c + 2 <= n) { EXPECT_GE(moved.lower(d, c + 2), grid.lower(d, c + 1)); }
                }
            }
            grid = moved;
        }
    }
}

TEST(Borders, have_the_pulses_of_equal_cells_at_the_limit_of_thickness)
{
    std::mt19937_64 engine(6);
    std::exponential_distribution<double> some;
    const Box<double> box(Vec3<double>{5, 6, 7});
    for (const double reach : {0.4, 0.9, 1.3, 2.4})
    {
        for (const CellGrid& equal : all_grids())
        {
            const Vec3<double> all{reach, reach, reach};
            const std::array<double, 3> thinnest = thinnest_cells(equal, box, all);
            CellGrid grid = equal;
            for (int k = 0; k < 20; ++k)
            {
                std::vector<RankWork> work(static_cast<std::size_t>(grid.ranks()));
                for (RankWork& rank : work) { rank.of_atoms = std::pow(some(engine), 4); }
                grid = with_moved_borders(grid, work, thinnest);
                const std::array<int, 3> pulses = pulses_for(grid, box, all), of_equal = pulses_for(equal, box, all);
                for (std::size_t d = 0; d < 3; ++d) { EXPECT_LE(pulses[d], of_equal[d]) << name_of(grid) << ", reach " << reach; }
            }
        }
    }
}

TEST(LoadBalancer, does_not_move_borders_by_noise)
{
    std::mt19937_64 engine(7);
    std::normal_distribution<double> noise(1, 0.03);
    CellGrid grid{{1, 1, 4}};
    LoadBalancer balancer(Balancing::Auto, any_thickness);
    for (int k = 0; k < 1000; ++k)
    {
        std::vector<RankWork> work(4);
        for (RankWork& rank : work) { rank.of_atoms = noise(engine); }
        EXPECT_FALSE(balancer.consider(grid, work));
    }
}

TEST(LoadBalancer, comes_to_rest_with_noisy_times)
{
    std::mt19937_64 engine(8);
    std::normal_distribution<double> noise(1, 0.03);
    CellGrid grid{{1, 1, 4}};
    LoadBalancer balancer(Balancing::Auto, any_thickness);
    int late_moves = 0;
    for (int k = 0; k < 400; ++k)
    {
        std::vector<RankWork> work = work_of(grid, of_slab);
        for (RankWork& rank : work) { rank.of_atoms *= noise(engine); }
        auto moved = balancer.consider(grid, work);
        if (!moved) { continue; }
        late_moves += k >= 60 ? 1 : 0;
        grid = std::move(*moved);
    }
    EXPECT_LE(late_moves, 20); // of 340 calls
    EXPECT_LT(imbalance(work_of(grid, of_slab)), 0.1);
}

TEST(LoadBalancer, gives_up_where_cells_are_at_their_limit)
{
    CellGrid grid{{1, 1, 2}};
    LoadBalancer balancer(Balancing::On, {1, 1, 0.4});
    int last = 0;
    for (int k = 0; k < 100; ++k)
    {
        if (auto moved = balancer.consider(grid, work_of(grid, of_slab))) { grid = std::move(*moved), last = k; }
    }
    EXPECT_NEAR(border(grid, 2, 1), 0.4, 1e-6);
    EXPECT_LT(last, 20);
    // Work that has changed is balanced again.
    for (int k = 0; k < 40; ++k)
    {
        if (auto moved = balancer.consider(grid, work_of(grid, [](const Vec3<double>&) { return 1.0; }))) { grid = *moved; }
    }
    EXPECT_NEAR(border(grid, 2, 1), 0.5, 0.02);
}

TEST(LoadBalancer, counts_work_that_stays_with_a_rank)
{
    CellGrid grid{{1, 1, 2}};
    LoadBalancer balancer(Balancing::Auto, any_thickness);
    // An imbalance of 20 % of the work of atoms is 5 % of all work, which is not worth a move.
    for (int k = 0; k < 10; ++k) { EXPECT_FALSE(balancer.consider(grid, std::vector<RankWork>{{1.2, 3}, {0.8, 3}})); }
    EXPECT_NEAR(balancer.record().imbalance, 0.05, 1e-12);
    EXPECT_FALSE(LoadBalancer(Balancing::Off, any_thickness).consider(grid, work_of(grid, of_slab)));
}
