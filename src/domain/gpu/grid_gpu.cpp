// SPDX-License-Identifier: Apache-2.0
#include "domain/gpu/grid_gpu.hpp"

#include "state/gpu/particle_state_gpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parhelion {

namespace {

// Shortest ways along the constraints, all at once: until no constraint makes any shorter. Precondition: virtual sites are means.
double longest_overhang(const MoleculeType& type, const MoleculeUpdateGroups& groups)
{
    std::vector<double> from_reference(type.atoms.size(), std::numeric_limits<double>::infinity());
    for (const std::int32_t reference : groups.reference_of_atom) { from_reference[static_cast<std::size_t>(reference)] = 0; }
    bool is_shorter = true;
    const auto relax = [&](std::int32_t a, std::int32_t b, double length) {
        double &to_a = from_reference[static_cast<std::size_t>(a)], &to_b = from_reference[static_cast<std::size_t>(b)];
        is_shorter |= to_a + length < to_b || to_b + length < to_a;
        to_b = std::min(to_b, to_a + length), to_a = std::min(to_a, to_b + length);
    };
    while (is_shorter)
    {
        is_shorter = false;
        for (const Constraint& c : type.constraints) { relax(c.a, c.b, c.length); }
        for (const Settle& s : type.settles) { relax(s.oxygen, s.hydrogen_a, s.oh), relax(s.oxygen, s.hydrogen_b, s.oh); }
    }
    for (const VirtualSite& site : type.sites)
    {
        // A mean is off by no more than the mean of how far its atoms are off, with the sizes of the weights.
        const auto off = [&](std::size_t k) { return from_reference[static_cast<std::size_t>(site.from[k])]; };
        double mean = 0, rest = 1;
        for (std::size_t k = 1; k < site.from.size(); ++k)
        {
            const double weight = site.parameters[k - 1];
            mean += std::abs(weight) * off(k), rest -= weight;
        }
        from_reference[static_cast<std::size_t>(site.atom)] = mean + std::abs(rest) * off(0);
    }
    return from_reference.empty() ? 0 : *std::max_element(from_reference.begin(), from_reference.end());
}

} // namespace

double longest_overhang(const Topology& topology, const UpdateGroups& groups)
{
    constexpr double tolerance = 1.05;
    double longest = 0;
    for (std::size_t t = 0; t < topology.molecule_types.size(); ++t)
    {
        longest = std::max(longest, tolerance * longest_overhang(topology.molecule_types[t], groups.molecule_types[t]));
    }
    return longest;
}

namespace {

constexpr double rounding = 1 + 1e-5; // distances in pair lists are float, and of leading bits only

// Of two atoms within reach of each other both may have strayed.
double farthest(double reach, double overhang) { return rounding * reach + 2 * overhang; }
// Pressure coupling may shrink the box by a fiftieth before cells further ahead are needed.
double farthest_ahead(double reach, double overhang) { return 1.02 * farthest(reach, overhang); }

} // namespace

GridCriteria gpu_grid_criteria(double reach, double overhang, std::int64_t atoms, const Box<double>& box)
{
    constexpr double message = 40; // nm^3: 0.4 us, where 10 000 atoms of a halo take 1
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
