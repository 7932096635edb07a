// SPDX-License-Identifier: Apache-2.0
// Which zone of a rank an atom is in (state/gpu/cell.hpp), by the leading 32 bits of positions. Whoever asks gets the same
// answer: the rank that has the atom now, or the one that may get it. Cost: some ten operations of double precision.
#pragma once

#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion::gpu_zones {

__device__ inline std::uint32_t leading(std::uint32_t x) { return x; }
__device__ inline std::uint32_t leading(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
template <class N>
__device__ Vec3<std::uint32_t> leading(const PositionCharge<N>& p)
{
    return {leading(p.x), leading(p.y), leading(p.z)};
}

// nm between faces of the box that are a leading unit apart: along an edge, if the box is rectangular.
template <class N>
__device__ Vec3<double> leading_nm_per_unit(const DeviceScalars& scalars)
{
    return (sizeof(typename N::Fixed) == 8 ? 4294967296.0 : 1.0) * scalars.height_per_unit;
}

// How far an atom in a zone is in front of this rank's lower border, in leading units. The middle of its owner's cell says which
// image is meant; that cells' widths differ by a unit does not matter.
__device__ inline std::int64_t ahead_of_border(const GpuCell& cell, int d, int offset, std::uint32_t x)
{
    const std::uint32_t middle = static_cast<std::uint32_t>(offset) * cell.width[d] + cell.width[d] / 2;
    return std::int64_t{offset} * cell.width[d] + cell.width[d] / 2 + static_cast<std::int32_t>(x - cell.lower[d] - middle);
}

// The zone of an atom whose reference atom is at `reference`; -1 if it is not needed here.
__device__ inline int zone_of(const GpuCell& cell, const Vec3<double>& nm_per_unit, const Vec3<std::uint32_t>& reference,
                              const Vec3<std::uint32_t>& x)
{
    int offset[3] = {0, 0, 0};
    double distance2 = 0;
    for (int d = 0; d < 3; ++d)
    {
        if (!cell.is_divided(d)) { continue; }
        const int owner = static_cast<int>(__umulhi(reference[d], static_cast<std::uint32_t>(cell.cells[d])));
        offset[d] = owner - cell.cell[d] + (owner < cell.cell[d] ? cell.cells[d] : 0);
        if (offset[d] > cell.pulses[d]) { return -1; }
        if (offset[d] == 0) { continue; }
        // From the farthest that atoms of this cell may be.
        const double units = static_cast<double>(ahead_of_border(cell, d, offset[d], x[d]) - cell.width[d]);
        const double distance = fmax(0.0, units * nm_per_unit[d] - cell.overhang[d]);
        // Faces that are no right angle apart: the larger distance is all that is sure.
        distance2 = cell.is_tilted ? fmax(distance2, distance * distance) : distance2 + distance * distance;
    }
    return distance2 < cell.reach * cell.reach ? cell.zone_at(offset[0], offset[1], offset[2]) : -1;
}

} // namespace parhelion::gpu_zones
