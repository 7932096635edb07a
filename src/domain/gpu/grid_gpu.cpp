// SPDX-License-Identifier: Apache-2.0
#include "domain/gpu/grid_gpu.hpp"

#include "state/gpu/particle_state_gpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parhelion {

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

// Returns how far a site can move if its constructing atoms are off by `off` (nm); `unknown` if one of these is unknown.
double farthest_from(const VirtualSite& site, const std::vector<double>& off)
{
    const std::vector<double>& p = site.parameters;
    const auto of = [&](std::size_t k) { return off[static_cast<std::size_t>(site.from[k])]; };
    for (std::size_t k = 0; k < site.from.size(); ++k)
    {
        if (of(k) == unknown) { return unknown; }
    }
    // A weighted mean is off by at most the sum of the atoms' deviations, times the absolute weights.
    const auto mean = [&](std::size_t others) {
        double sum = 0, rest = 1;
        for (std::size_t k = 1; k <= others; ++k) { sum += std::abs(p[k - 1]) * of(k), rest -= p[k - 1]; }
        return sum + std::abs(rest) * of(0);
    };
    switch (site.kind)
    {
    case SiteKind::Linear:
    case SiteKind::Mean:
        return mean(site.from.size() - 1);
    case SiteKind::FixedDistance2:
        return of(0) + std::abs(p[0]);
    case SiteKind::FixedDistance3:
        return of(0) + std::abs(p[1]);
    case SiteKind::FixedAngle3:
        return of(0) + std::hypot(p[0], p[1]);
    case SiteKind::OutOfPlane3:
        return mean(2) + std::abs(p[2]) * (of(0) + of(1)) * (of(0) + of(2));
    case SiteKind::FixedDistance4:
        return of(0) + std::abs(p[2]);
    }
    return unknown;
}

// Returns, for each atom, the largest distance (nm) from the reference atom of its group that constraints allow: the
// length of the shortest path along constraints. `unknown` for atoms that only virtual sites tie to the group.
std::vector<double> farthest_from_reference(const MoleculeType& type, const MoleculeUpdateGroups& groups)
{
    std::vector<double> off(type.atoms.size(), unknown);
    for (const std::int32_t reference : groups.reference_of_atom) { off[static_cast<std::size_t>(reference)] = 0; }
    bool is_shorter = true;
    const auto relax = [&](std::int32_t a, std::int32_t b, double length) {
        double &of_a = off[static_cast<std::size_t>(a)], &of_b = off[static_cast<std::size_t>(b)];
        is_shorter |= of_a + length < of_b || of_b + length < of_a;
        of_b = std::min(of_b, of_a + length), of_a = std::min(of_a, of_b + length);
    };
    while (is_shorter)
    {
        is_shorter = false;
        for (const Constraint& c : type.constraints) { relax(c.a, c.b, c.length); }
        for (const Settle& s : type.settles) { relax(s.oxygen, s.hydrogen_a, s.oh), relax(s.oxygen, s.hydrogen_b, s.oh); }
    }
    for (const VirtualSite& site : type.sites)
    {
        double& of_site = off[static_cast<std::size_t>(site.atom)];
        of_site = std::min(of_site, farthest_from(site, off));
    }
    return off;
}

} // namespace

double longest_overhang(const Topology& topology, const UpdateGroups& groups, const AtomDistance& distance)
{
    // Distances along constraints vary only by rounding. Distances along bonds vary more, since bonds bend and stretch.
    constexpr double tolerance = 1.05, soft_tolerance = 1.5;
    double rigid = 0, soft = 0;
    std::vector<std::vector<double>> of_type;
    for (std::size_t t = 0; t < topology.molecule_types.size(); ++t)
    {
        of_type.push_back(farthest_from_reference(topology.molecule_types[t], groups.molecule_types[t]));
    }
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto t = static_cast<std::size_t>(block.type);
        const std::vector<std::int32_t>& reference = groups.molecule_types[t].reference_of_atom;
        const std::vector<double>& off = of_type[t];
        for (std::size_t atom = 0; atom < off.size(); ++atom)
        {
            if (off[atom] != unknown) { rigid = std::max(rigid, off[atom]); }
            for (std::int64_t copy = 0; copy < block.count && off[atom] == unknown; ++copy)
            {
                const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(off.size());
                soft = std::max(soft, distance(first + static_cast<std::int64_t>(atom), first + reference[atom]));
            }
        }
    }
    return std::max(tolerance * rigid, soft_tolerance * soft);
}

namespace {

constexpr double rounding = 1 + 1e-5; // pair lists compute distances in float, from leading bits

// Returns the distance up to which atoms are needed, nm. Both atoms of a pair may have moved out of their owners' cells.
double farthest(double reach, double overhang) { return rounding * reach + 2 * overhang; }
// Returns farthest() with a margin: pressure coupling may shrink the box by 2 % before cells farther ahead are needed.
double farthest_ahead(double reach, double overhang) { return 1.02 * farthest(reach, overhang); }

} // namespace

GridCriteria gpu_grid_criteria(double reach, double overhang, std::int64_t atoms, const Box<double>& box)
{
    constexpr double message = 40; // nm^3: a message costs 0.4 us, and 10 000 halo atoms cost 1 us
    constexpr int pulses = GpuStrips::most_offsets - 1;
    const double supercluster = std::cbrt(box.volume() * supercluster_size / static_cast<double>(atoms));
    const double half_edge = reach + std::max(2 * overhang, supercluster), halo = farthest_ahead(reach, overhang);
    return {{half_edge, half_edge, half_edge},
            {halo, halo, halo},
            {0, 0, supercluster},
            message,
            {pulses, pulses, GridCriteria::no_limit},
            most_gpu_messages,
            {2 * overhang, 2 * overhang, 2 * overhang}};
}

GpuCell make_gpu_cell(const CellGrid& grid, int rank, const Box<double>& box, double reach, double overhang)
{
    const double within = farthest(reach, overhang), ahead = farthest_ahead(reach, overhang);
    check_grid(grid, box, {within, within, within}, {2 * overhang, 2 * overhang, 2 * overhang});
    const std::array<int, 3> cell = grid.cell_of(rank), pulses = pulses_for(grid, box, {ahead, ahead, ahead});
    const Vec3<double> heights = box.heights();
    GpuCell result;
    result.reach = rounding * reach;
    result.is_tilted = !box.is_rectangular();
    for (int d = 0; d < 3; ++d)
    {
        const auto k = static_cast<std::size_t>(d);
        result.cells[d] = grid.cells[k], result.cell[d] = cell[k], result.pulses[d] = pulses[k];
        if (grid.cells[k] == 1) { continue; }
        result.overhang[d] = overhang;
        result.lower[d] = static_cast<std::uint32_t>(grid.lower(d, cell[k]));
        result.width[d] = static_cast<std::uint32_t>(grid.lower(d, cell[k] + 1) - grid.lower(d, cell[k]));
        const double margin = 1.1 * std::ldexp(overhang / heights[d], 32) + 1024;
        result.origin[d] = result.lower[d] - static_cast<std::uint32_t>(margin);
    }
    return result;
}

} // namespace parhelion
