// SPDX-License-Identifier: Apache-2.0
// The grid: borders that all agree on, the number of cells that halo atoms come from, the choice of a shape.
#include "base/error.hpp"
#include "support/decomposition.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

TEST(CellGrid, gives_every_coordinate_to_one_cell_and_the_border_to_the_upper)
{
    std::vector<CellGrid> grids = all_grids();
    for (CellGrid& grid : uneven_grids()) { grids.push_back(std::move(grid)); }
    for (const CellGrid& grid : grids)
    {
        for (int d = 0; d < 3; ++d)
        {
            const int n = grid.cells[static_cast<std::size_t>(d)];
            EXPECT_EQ(grid.lower(d, 0), 0u);
            EXPECT_EQ(grid.lower(d, n), std::uint64_t{1} << 32);
            for (int c = 0; c < n; ++c)
            {
                std::array<std::uint32_t, 3> x{};
                x[static_cast<std::size_t>(d)] = static_cast<std::uint32_t>(grid.lower(d, c));
                EXPECT_EQ(grid.cell_at(x)[static_cast<std::size_t>(d)], c) << name_of(grid);
                x[static_cast<std::size_t>(d)] = static_cast<std::uint32_t>(grid.lower(d, c + 1) - 1);
                EXPECT_EQ(grid.cell_at(x)[static_cast<std::size_t>(d)], c) << name_of(grid);
            }
        }
    }
}

TEST(CellGrid, numbers_its_cells_and_goes_around_the_box)
{
    for (const CellGrid& grid : all_grids())
    {
        for (int rank = 0; rank < grid.ranks(); ++rank)
        {
            EXPECT_EQ(grid.rank_of(grid.cell_of(rank)), rank);
            EXPECT_EQ(grid.ahead(rank, {0, 0, 0}), rank);
            EXPECT_EQ(grid.ahead(rank, grid.cells), rank);
            EXPECT_EQ(grid.ahead(grid.ahead(rank, {1, 2, -3}), {-1, -2, 3}), rank);
        }
    }
    EXPECT_EQ(CellGrid({{2, 1, 3}}).ahead(5, {1, 0, 1}), 0);
}

TEST(CellGrid, needs_as_many_pulses_as_cells_begin_within_reach)
{
    const Vec3<double> box{8, 8, 8};
    const auto pulses = [&](int cells, double reach) { return pulses_for({{cells, 1, 1}}, box, {reach, reach, reach})[0]; };
    EXPECT_EQ(pulses(1, 3.9), 0);
    EXPECT_EQ(pulses(2, 3.9), 1);
    EXPECT_EQ(pulses(4, 1.9), 1);
    EXPECT_EQ(pulses(4, 2.1), 2);
    EXPECT_EQ(pulses(8, 0.9), 1);
    EXPECT_EQ(pulses(8, 1.1), 2);
    EXPECT_EQ(pulses(8, 2.9), 3);
    EXPECT_EQ(pulses(3, 3.9), 2);
    // With cells of 0.8, 0.8, 5.6 and 0.8 nm, the last one is 1.6 nm behind the third, around the box.
    const CellGrid uneven{{4, 1, 1}, {std::vector<std::uint32_t>{429496730, 858993459, 3865470566}, {}, {}}};
    const auto uneven_pulses = [&](double reach) { return pulses_for(uneven, box, {reach, reach, reach})[0]; };
    EXPECT_EQ(uneven_pulses(0.7), 1);
    EXPECT_EQ(uneven_pulses(0.9), 2);
    EXPECT_EQ(uneven_pulses(1.7), 3);
    EXPECT_EQ(uneven_pulses(3.9), 3);
}

TEST(CellGrid, has_the_shape_with_the_least_halo)
{
    const GridCriteria of_one = cpu_grid_criteria({1, 1, 1});
    EXPECT_EQ(choose_grid(1, {2, 2, 2}, of_one).cells, (std::array<int, 3>{1, 1, 1}));
    EXPECT_EQ(choose_grid(2, {6, 6, 12}, of_one).cells, (std::array<int, 3>{1, 1, 2}));
    EXPECT_EQ(choose_grid(4, {20, 6, 6}, of_one).cells, (std::array<int, 3>{4, 1, 1}));
    EXPECT_EQ(choose_grid(27, {30, 30, 30}, of_one).cells, (std::array<int, 3>{3, 3, 3}));
    // An edge too short to be divided is not.
    EXPECT_EQ(choose_grid(3, {1.9, 8, 1.9}, of_one).cells, (std::array<int, 3>{1, 3, 1}));
}

TEST(CellGrid, does_not_depend_on_the_last_bits_of_equal_edges)
{
    for (const double reach : {1.0, 1.2672, 1.2673})
    {
        for (const double bit : {0.0, 1e-14, -1e-14})
        {
            const Vec3<double> box{7.64564, 7.64564 + bit, 7.64564 - bit};
            for (const int ranks : {2, 4, 6, 8, 12, 64})
            {
                const std::array<int, 3> cells = choose_grid(ranks, box, cpu_grid_criteria({reach, reach, reach})).cells;
                EXPECT_TRUE(cells[0] >= cells[1] && cells[1] >= cells[2]) << ranks << " ranks, reach " << reach;
            }
        }
    }
}

TEST(CellGrid, weighs_messages_and_borders_against_the_volume_of_the_halo)
{
    const Vec3<double> box{12, 12, 12}, reach{1, 1, 1};
    EXPECT_EQ(choose_grid(64, box, {reach, reach, {}, 0}).cells, (std::array<int, 3>{4, 4, 4}));
    EXPECT_EQ(choose_grid(8, box, {reach, reach, {}, 0}).cells, (std::array<int, 3>{4, 2, 1}));
    EXPECT_EQ(choose_grid(8, box, {reach, reach, {}, 40}).cells, (std::array<int, 3>{8, 1, 1}));
    EXPECT_EQ(choose_grid(64, box, {reach, reach, {0, 0, 2}, 0}).cells, (std::array<int, 3>{8, 8, 1}));
    EXPECT_EQ(choose_grid(8, {12, 12, 60}, {reach, reach, {0, 0, 2}, 40}).cells, (std::array<int, 3>{1, 1, 8}));
    // A border is no reach: it makes no second message of cells of 2 nm, which would be dearer than the two of 4x1x1.
    EXPECT_EQ(choose_grid(4, {2.4, 2.4, 8}, {reach, reach, {0, 0, 2.4}, 40}).cells, (std::array<int, 3>{1, 1, 4}));
    // What may be divided is another question than what that costs.
    EXPECT_EQ(choose_grid(8, box, {{6, 5, 5}, reach, {}, 40}).cells, (std::array<int, 3>{1, 8, 1}));
}

TEST(CellGrid, that_does_not_fit_is_refused_with_the_numbers)
{
    const auto message = [](auto&& refused) {
        try
        {
            refused();
        }
        catch (const InputError& error)
        {
            EXPECT_EQ(error.id(), "E630");
            return error.message();
        }
        return std::string("accepted");
    };
    const Vec3<double> reach{1.25, 1.25, 1.25};
    EXPECT_EQ(message([&] {
                  choose_grid(2, {2.5, 2.4, 2.5}, cpu_grid_criteria(reach));
              }),
              "the box of 2.500 x 2.400 x 2.500 nm cannot be divided into 2 cells: an edge that is divided must be longer than "
              "2.500 nm, "
              "twice the reach of pair lists. Use fewer ranks, or a grid that does not divide the short edges.");
    EXPECT_NE(message([&] { check_grid({{1, 2, 1}}, {8, 2.4, 8}, reach); }).find("1x2x1"), std::string::npos);
    EXPECT_NO_THROW(check_grid({{2, 1, 1}}, {8, 2.4, 8}, reach));
    // All bonds of a chain are constrained: what reaches so far is the chain. Hydrogens are no cause.
    const Vec3<double> chains{4, 5, 6};
    for (const std::string& text : {message([&] {
                                        check_grid({{1, 2, 1}}, {8, 8, 8}, chains, {2, 3, 4.5});
                                    }),
                                    message([&] {
                                        choose_grid(2, {8, 8, 8}, cpu_grid_criteria(chains, {2, 3, 4.5}));
                                    })})
    {
        EXPECT_NE(text.find("12.000 nm, twice the reach of pair lists. 9.000 nm of it are for atoms that constraints or virtual "
                            "sites join: these stay "
                            "on one rank"),
                  std::string::npos)
            << text;
    }
    EXPECT_EQ(message([&] {
                  check_grid({{1, 2, 1}}, {8, 8, 8}, chains, {0.2, 0.2, 0.2});
              }).find("constraints"),
              std::string::npos);
}
