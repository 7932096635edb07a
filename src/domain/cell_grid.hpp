// SPDX-License-Identifier: Apache-2.0
// The grid of equal cells over the box, one cell a rank, and the choice of its shape.
//
// Borders are integers in leading bits of the coordinates, so that all ranks agree on who owns what. A rank's halo is what lies
// ahead of its cell within reach; the best grid has the least of it, in few messages.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "state/territory.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace parhelion {

struct CellGrid
{
    std::array<int, 3> cells{1, 1, 1};

    int ranks() const { return cells[0] * cells[1] * cells[2]; }
    bool has_cell(int rank) const { return rank < ranks(); } // ranks beyond the last cell have no atoms
    // z fastest: the ranks of a slab along x are neighbours.
    int rank_of(const std::array<int, 3>& cell) const { return (cell[0] * cells[1] + cell[1]) * cells[2] + cell[2]; }
    std::array<int, 3> cell_of(int rank) const
    {
        return {rank / (cells[1] * cells[2]), rank / cells[2] % cells[1], rank % cells[2]};
    }
    // The rank whose cell is `offset` cells ahead of `rank`'s, around the box.
    int ahead(int rank, const std::array<int, 3>& offset) const;
    // The first coordinate of cell c in dimension d; of c = cells[d], 2^32.
    std::uint64_t lower(int d, int c) const
    {
        const auto n = static_cast<std::uint64_t>(cells[static_cast<std::size_t>(d)]);
        return ((static_cast<std::uint64_t>(c) << 32) + n - 1) / n;
    }
    // What `rank` calls the cell at this offset from its own.
    Zone zone(int rank, const std::array<int, 3>& offset) const;
    std::array<int, 3> cell_at(const std::array<std::uint32_t, 3>& x) const;
};

// Cells ahead that a rank needs atoms from when they may be `reach` (nm) beyond its cell; less than the cells there are.
std::array<int, 3> pulses_for(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach);

// What the choice of a grid goes by.
struct GridCriteria
{
    Vec3<double> half_edge; // nm; the box must be longer than twice this where it is divided
    Vec3<double> reach;     // nm; the thickness of a halo
    Vec3<double> border;    // nm; a border costs as if the halo behind it were so much thicker
    double message;         // nm^3; a message costs as much as so much halo
    std::array<int, 3> most_pulses{no_limit, no_limit, no_limit};
    int most_messages = no_limit;
    Vec3<double> of_groups{}; // nm; how much of half_edge is for what update groups stick out of their cells

    static constexpr int no_limit = std::numeric_limits<int>::max();
};

// Of CPUs. reach (nm): of the pair list, with what atoms stray from their cells; of_groups: how much of it that is.
GridCriteria cpu_grid_criteria(const Vec3<double>& reach, const Vec3<double>& of_groups = {});

// The grid of `ranks` cells whose halo costs least; of several, the one with the most cells along x, then y. None if no grid
// fits.
std::optional<CellGrid> find_grid(int ranks, const Box<double>& box, const GridCriteria& criteria);
// Slabs along x, if these fit.
std::optional<CellGrid> find_slabs(int ranks, const Box<double>& box, const GridCriteria& criteria);
// Throws InputError E630 instead of none.
CellGrid choose_grid(int ranks, const Box<double>& box, const GridCriteria& criteria);

// Throws InputError E630 if an edge that is divided is not longer than twice the reach (nm); of_groups as of GridCriteria.
void check_grid(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach, const Vec3<double>& of_groups = {});

} // namespace parhelion
