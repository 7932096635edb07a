// SPDX-License-Identifier: Apache-2.0
// Computes in which zone of a rank an atom is (state/gpu/cell.hpp), from the leading 32 bits of positions. Every rank
// gets the same result: the owner, and the rank that may get the atom. Cost: some ten operations of double precision.
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

// Returns the distance (nm) between planes parallel to box faces whose coordinates differ by 2^-32 box edges.
template <class N>
__device__ Vec3<double> leading_nm_per_unit(const DeviceScalars& scalars)
{
    return (sizeof(typename N::Fixed) == 8 ? 4294967296.0 : 1.0) * scalars.height_per_unit;
}

// Returns how far an atom in a zone is ahead of this rank's lower border, in 2^-32 box edges. The image nearest
// to the middle of its owner's cell is taken. Widths of cells may differ by a unit, which does not matter.
__device__ inline std::int64_t ahead_of_border(const GpuCell& cell, int d, int offset, std::uint32_t x)
{
    const std::uint32_t middle = static_cast<std::uint32_t>(offset) * cell.width[d] + cell.width[d] / 2;
    return std::int64_t{offset} * cell.width[d] + cell.width[d] / 2 + static_cast<std::int32_t>(x - cell.lower[d] - middle);
}

// Returns the zone of an atom whose reference atom is at `reference`; -1 if this rank does not need it.
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
        // The distance is measured from the farthest point where atoms of this cell may be.
        const double units = static_cast<double>(ahead_of_border(cell, d, offset[d], x[d]) - cell.width[d]);
        const double distance = fmax(0.0, units * nm_per_unit[d] - cell.overhang[d]);
        // In a tilted box, squares of distances from two faces do not add up. Only the larger distance is then a safe bound.
        distance2 = cell.is_tilted ? fmax(distance2, distance * distance) : distance2 + distance * distance;
    }
    return distance2 < cell.reach * cell.reach ? cell.zone_at(offset[0], offset[1], offset[2]) : -1;
}

} // namespace parhelion::gpu_zones
