// SPDX-License-Identifier: Apache-2.0
// The grid of cells over the box, one cell per rank, and the choice of its shape.
//
// Cell borders are integers in units of 2^-32 box edges, so that all ranks agree on the owner of an atom. Cells are equal
// unless load balancing has moved the borders (load_balance.hpp). A border goes through the whole box. A rank's halo is
// the region ahead of its cell, as thick as the reach. The best grid has the smallest halo, in few messages.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "state/territory.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace parhelion {

struct CellGrid
{
    std::array<int, 3> cells{1, 1, 1};
    // By dimension, the borders between cells in 2^-32 box edges, ascending: one fewer than cells. Empty: the cells are equal.
    std::array<std::vector<std::uint32_t>, 3> borders{};

    int ranks() const { return cells[0] * cells[1] * cells[2]; }
    bool has_cell(int rank) const { return rank < ranks(); } // ranks without a cell have higher numbers
    // Returns the rank of a cell. z varies fastest, so that the ranks of a slab along x have consecutive numbers.
    int rank_of(const std::array<int, 3>& cell) const { return (cell[0] * cells[1] + cell[1]) * cells[2] + cell[2]; }
    std::array<int, 3> cell_of(int rank) const
    {
        return {rank / (cells[1] * cells[2]), rank / cells[2] % cells[1], rank % cells[2]};
    }
    // Returns the rank whose cell is `offset` cells ahead of the cell of `rank`, around the box.
    int ahead(int rank, const std::array<int, 3>& offset) const;
    // Returns the lowest coordinate of cell c in dimension d, in 2^-32 box edges; 2^32 for c = cells[d].
    std::uint64_t lower(int d, int c) const
    {
        const auto n = static_cast<std::uint64_t>(cells[static_cast<std::size_t>(d)]);
        const std::vector<std::uint32_t>& moved = borders[static_cast<std::size_t>(d)];
        if (!moved.empty() && c > 0 && static_cast<std::uint64_t>(c) < n) { return moved[static_cast<std::size_t>(c - 1)]; }
        return ((static_cast<std::uint64_t>(c) << 32) + n - 1) / n;
    }
    std::vector<std::uint32_t> lower_borders(int d) const;                            // lower() of every cell of dimension d
    std::uint64_t width(int d, int c) const { return lower(d, c + 1) - lower(d, c); } // width of cell c in dimension d
    // Returns the zone of `rank`'s halo that comes from the cell at this offset from its own.
    Zone zone(int rank, const std::array<int, 3>& offset) const;
    std::array<int, 3> cell_at(const std::array<std::uint32_t, 3>& x) const;
};

// Returns from how many cells ahead ranks need atoms, if the halo is `reach` (nm) thick: the same number
// for all ranks, the largest that any of them needs. It is less than the number of cells.
std::array<int, 3> pulses_for(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach);

// The criteria for the choice of a grid.
struct GridCriteria
{
    Vec3<double> half_edge; // nm; the box must be longer than twice this where it is divided
    Vec3<double> reach;     // nm; the thickness of a halo
    Vec3<double> border;    // nm; extra halo thickness that would cost as much as dividing the box in this dimension
    double message;         // nm^3; volume of halo that costs as much as a message
    std::array<int, 3> most_pulses{no_limit, no_limit, no_limit};
    int most_messages = no_limit;
    Vec3<double> of_groups{}; // nm; the part of half_edge for atoms outside their group's cell

    static constexpr int no_limit = std::numeric_limits<int>::max();
};

// Returns the criteria of CPUs. reach (nm): the pair list's reach plus of_groups.
// of_groups (nm): how far atoms of update groups may be outside of their cells.
GridCriteria cpu_grid_criteria(const Vec3<double>& reach, const Vec3<double>& of_groups = {});

// Returns the grid of `ranks` cells whose halo costs least. Among equal grids it has the most cells along x, then along y.
// Returns nothing if no grid fits.
std::optional<CellGrid> find_grid(int ranks, const Box<double>& box, const GridCriteria& criteria);
// Returns a grid of slabs along x, or nothing if slabs do not fit.
std::optional<CellGrid> find_slabs(int ranks, const Box<double>& box, const GridCriteria& criteria);
// Does the same as find_grid(), but throws InputError E630 if no grid fits.
CellGrid choose_grid(int ranks, const Box<double>& box, const GridCriteria& criteria);

// Throws InputError E630 if a divided edge is not longer than twice the reach (nm). of_groups: as in GridCriteria.
void check_grid(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach, const Vec3<double>& of_groups = {});

} // namespace parhelion
