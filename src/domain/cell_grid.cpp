// SPDX-License-Identifier: Apache-2.0
#include "domain/cell_grid.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace parhelion {

namespace {

bool fits(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach)
{
    const Vec3<double> heights = box.heights();
    for (int d = 0; d < 3; ++d)
    {
        if (grid.cells[static_cast<std::size_t>(d)] > 1 && !(heights[d] > 2 * reach[d])) { return false; }
    }
    return true;
}

// Returns a rank's cost, nm^3, or infinity beyond a limit. Each zone counts as a message, although staged methods send fewer.
double cost(const CellGrid& grid, const Box<double>& box, const GridCriteria& criteria)
{
    const std::array<int, 3> pulses = pulses_for(grid, box, criteria.reach);
    const Vec3<double> heights = box.heights(), &edge = box.diagonal();
    double home = 1, extended = 1;
    std::int64_t zones = 1;
    bool is_within_limits = true;
    for (std::size_t d = 0; d < 3; ++d)
    {
        const auto dim = static_cast<int>(d);
        const double cell = edge[dim] / grid.cells[d], along_edge = edge[dim] / heights[dim];
        home *= cell;
        extended *=
            grid.cells[d] > 1 ? std::min(cell + along_edge * (criteria.reach[dim] + criteria.border[dim]), edge[dim]) : cell;
        zones *= 1 + pulses[d];
        is_within_limits = is_within_limits && pulses[d] <= criteria.most_pulses[d];
    }
    is_within_limits = is_within_limits && zones - 1 <= criteria.most_messages;
    return is_within_limits ? extended - home + criteria.message * static_cast<double>(zones - 1) : INFINITY;
}

std::string describe(const CellGrid& grid) { return fmt::format("{}x{}x{}", grid.cells[0], grid.cells[1], grid.cells[2]); }

double longest(const Vec3<double>& edges) { return std::max({edges.x, edges.y, edges.z}); }

InputError does_not_fit(const std::string& cells, const Box<double>& box, const Vec3<double>& reach,
                        const Vec3<double>& of_groups)
{
    const Vec3<double> heights = box.heights();
    // For hydrogens and rigid water this distance is a tenth of a nm, and not the cause of the error.
    const std::string groups = longest(of_groups) < 0.5
                                   ? ""
                                   : fmt::format(" {:.3f} nm of it are for atoms that constraints or virtual sites join: these "
                                                 "stay on one rank, however long their molecule is. Where constraints join them, "
                                                 "constrain fewer bonds (constraints = h-bonds).",
                                                 2 * longest(of_groups));
    return {
        "E630",
        {},
        fmt::format("the box of {:.3f} x {:.3f} x {:.3f} nm cannot be divided into {} cells: an edge that is divided must be "
                    "longer than {:.3f} nm, twice the reach of pair lists.{} Use fewer ranks, or a grid that does not divide the "
                    "short edges.",
                    heights.x, heights.y, heights.z, cells, 2 * longest(reach), groups)};
}

} // namespace

int CellGrid::ahead(int rank, const std::array<int, 3>& offset) const
{
    std::array<int, 3> cell = cell_of(rank);
    for (std::size_t d = 0; d < 3; ++d) { cell[d] = ((cell[d] + offset[d]) % cells[d] + cells[d]) % cells[d]; }
    return rank_of(cell);
}

std::vector<std::uint32_t> CellGrid::lower_borders(int d) const
{
    std::vector<std::uint32_t> lower_of_cell;
    for (int c = 0; c < cells[static_cast<std::size_t>(d)]; ++c)
    {
        lower_of_cell.push_back(static_cast<std::uint32_t>(lower(d, c)));
    }
    return lower_of_cell;
}

Zone CellGrid::zone(int rank, const std::array<int, 3>& offset) const
{
    const std::array<int, 3> cell = cell_of(ahead(rank, offset));
    Zone zone;
    for (std::size_t d = 0; d < 3; ++d)
    {
        zone.offset[d] = offset[d];
        if (cells[d] == 1) { continue; }
        const auto dim = static_cast<int>(d);
        const std::uint64_t half = width(dim, cell[d]) / 2;
        zone.half[d] = static_cast<std::uint32_t>(half);
        zone.centre[d] = static_cast<std::uint32_t>(lower(dim, cell[d]) + half);
    }
    return zone;
}

std::array<int, 3> CellGrid::cell_at(const std::array<std::uint32_t, 3>& x) const
{
    std::array<int, 3> cell{};
    for (std::size_t d = 0; d < 3; ++d)
    {
        const std::vector<std::uint32_t>& moved = borders[d];
        cell[d] = moved.empty() ? static_cast<int>((std::uint64_t{x[d]} * static_cast<std::uint64_t>(cells[d])) >> 32)
                                : static_cast<int>(std::upper_bound(moved.begin(), moved.end(), x[d]) - moved.begin());
    }
    return cell;
}

std::array<int, 3> pulses_for(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach)
{
    std::array<int, 3> pulses{};
    const Vec3<double> heights = box.heights();
    for (int d = 0; d < 3; ++d)
    {
        const int n = grid.cells[static_cast<std::size_t>(d)];
        const double nm_per_unit = std::ldexp(heights[d], -32);
        for (int c = 0; n > 1 && c < n; ++c)
        {
            int ahead = 1;
            std::uint64_t gap = 0; // distance from cell c to the cell `ahead` + 1 cells ahead
            for (; ahead < n - 1; ++ahead)
            {
                gap += grid.width(d, (c + ahead) % n);
                if ((static_cast<double>(gap) + n) * nm_per_unit >= reach[d]) { break; } // n: for rounded borders
            }
            pulses[static_cast<std::size_t>(d)] = std::max(pulses[static_cast<std::size_t>(d)], ahead);
        }
    }
    return pulses;
}

GridCriteria cpu_grid_criteria(const Vec3<double>& reach, const Vec3<double>& of_groups)
{
    constexpr double message = 0.5; // nm^3, the volume of some tens of atoms
    GridCriteria criteria{reach, reach, {}, message};
    criteria.of_groups = of_groups;
    return criteria;
}

std::optional<CellGrid> find_grid(int ranks, const Box<double>& box, const GridCriteria& criteria)
{
    PARHELION_EXPECTS(ranks >= 1);
    constexpr double rounding = 1 - 1e-9; // factor on costs, so that the last bits of an edge do not decide between equal ones
    std::optional<CellGrid> best;
    double lowest = 0;
    for (int x = ranks; x >= 1; --x)
    {
        for (int y = ranks / x; ranks % x == 0 && y >= 1; --y)
        {
            if (ranks / x % y != 0) { continue; }
            const CellGrid grid{{x, y, ranks / x / y}};
            if (!fits(grid, box, criteria.half_edge)) { continue; }
            // If all grids are beyond a limit, the first is taken. The code that has the limit then reports it.
            if (const double c = cost(grid, box, criteria); !best || c < rounding * lowest) { best = grid, lowest = c; }
        }
    }
    return best;
}

std::optional<CellGrid> find_slabs(int ranks, const Box<double>& box, const GridCriteria& criteria)
{
    const CellGrid grid{{ranks, 1, 1}};
    return fits(grid, box, criteria.half_edge) ? std::optional(grid) : std::nullopt;
}

CellGrid choose_grid(int ranks, const Box<double>& box, const GridCriteria& criteria)
{
    const std::optional<CellGrid> grid = find_grid(ranks, box, criteria);
    if (!grid) { throw does_not_fit(fmt::format("{}", ranks), box, criteria.half_edge, criteria.of_groups); }
    return *grid;
}

void check_grid(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach, const Vec3<double>& of_groups)
{
    if (!fits(grid, box, reach)) { throw does_not_fit(describe(grid), box, reach, of_groups); }
}

} // namespace parhelion
