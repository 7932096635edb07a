// SPDX-License-Identifier: Apache-2.0
#include "state/rank_slots.hpp"

#include "base/error.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

// Returns the extent (nm) in dimension d of the zones at an offset.
double extent(const GpuCell& cell, const Box<double>& box, int d, int offset)
{
    const double width = box.heights()[d] / cell.cells[d];
    if (offset == 0 || offset < cell.pulses[d]) { return width; }
    return std::clamp(cell.reach + cell.overhang[d] - (offset - 1) * width, 0.1 * width, width);
}

GpuStrips make_strips(const GpuCell& cell, const Box<double>& box, int d, double edge)
{
    PARHELION_EXPECTS(cell.pulses[d] < GpuStrips::most_offsets);
    GpuStrips strips;
    const double height = box.heights()[d];
    for (int offset = 0; offset <= cell.pulses[d]; ++offset)
    {
        const double length = extent(cell, box, d, offset);
        const int count = std::clamp(static_cast<int>(std::lround(length / edge)), 1, 1024);
        strips.first[offset + 1] = strips.first[offset] + count;
        if (!cell.is_divided(d)) { continue; }
        strips.begin[offset] = cell.unrolled(d, cell.lower[d]) + static_cast<std::uint32_t>(offset) * cell.width[d];
        strips.per_unit[offset] = static_cast<float>(count / std::ldexp(length / height, 32));
    }
    return strips;
}

GpuColumns make_columns(const GpuCell& cell, const Box<double>& box, double edge)
{
    GpuColumns columns;
    for (int d = 0; d < 2; ++d) { columns.strips[d] = make_strips(cell, box, d, edge); }
    const GpuStrips &x = columns.strips[0], &y = columns.strips[1];
    columns.count = x.first[cell.pulses[0] + 1] * y.first[cell.pulses[1] + 1] * (cell.pulses[2] + 1);
    return columns;
}

// Returns the largest number of columns. A block that sorts atoms has two sums for each column in shared memory.
int most_columns(std::size_t shared_bytes)
{
    constexpr std::size_t bytes_beside = 256;
    return static_cast<int>((shared_bytes - bytes_beside) / (2 * sizeof(std::int32_t))) - 1;
}

} // namespace

RankSlots plan_slots(const GpuCell& cell, const Box<double>& box, std::size_t atoms, double density_factor,
                     std::size_t shared_bytes)
{
    PARHELION_EXPECTS(density_factor >= 1);
    RankSlots result;
    double edge = std::cbrt(box.volume() * supercluster_size / static_cast<double>(std::max<std::size_t>(atoms, 1)));
    const Vec3<double> heights = box.heights();
    double here = 1; // number of home and halo atoms, if they filled the box; see `heights`
    for (int d = 0; d < 3; ++d)
    {
        double length = 0;
        for (int offset = 0; offset <= cell.pulses[d]; ++offset) { length += extent(cell, box, d, offset); }
        here *= length;
    }
    const double mean = static_cast<double>(atoms) * here / (heights.x * heights.y * heights.z);
    result.atoms = std::min(atoms, static_cast<std::size_t>(density_factor * mean) + supercluster_size);
    result.columns = make_columns(cell, box, edge);
    // Columns become wider if the box is so flat that there would be too many.
    for (const int most = most_columns(shared_bytes); result.columns.count > most; result.columns = make_columns(cell, box, edge))
    {
        edge *= 1.05;
    }
    // These slots suffice however the atoms are distributed over columns.
    const std::size_t partly_empty = std::min(static_cast<std::size_t>(result.columns.count), result.atoms);
    result.slots = std::max<std::size_t>(result.atoms / supercluster_size + partly_empty, 1) * supercluster_size;
    return result;
}

} // namespace parhelion
