// SPDX-License-Identifier: Apache-2.0
// The columns along z into which the atoms of a rank on a GPU are sorted, about as wide as the cube that 64 atoms fill.
//
// The idea: columns are where *strips* in x cross strips in y. An undivided dimension has strips all around the box. In a
// divided dimension every offset has its own strips, which fit the zones at this offset. The farthest zones may be as thin as
// the pair list's reach, and thin columns would make long superclusters. Columns are numbered zone by zone, within a zone by (x,
// y), y fastest. An atom beyond its zone counts to the zone's outer strip, so that the strip is monotonic in the coordinate.
//
// The structs are plain data and arguments of kernels. They are fixed for the run, whatever pressure coupling does to the box.
#pragma once

#include "base/host_device.hpp"
#include "state/gpu/cell.hpp"

#include <cstdint>

namespace parhelion {

struct GpuStrips
{
    static constexpr int most_offsets = 8;

    int first[most_offsets + 1] = {0, 1};   // first strip of each offset, and one past the last strip
    std::uint32_t begin[most_offsets] = {}; // lowest unrolled coordinate of the strips at an offset
    float per_unit[most_offsets] = {};      // strips per 2^-32 box edge; 0 in an undivided dimension

    PARHELION_HD int count(int offset) const { return first[offset + 1] - first[offset]; }
    // around() returns the strip in an undivided dimension, at() the strip of a coordinate, from 0, among those at `offset`.
    PARHELION_HD int around(std::uint32_t x) const
    {
        return static_cast<int>((static_cast<std::uint64_t>(x) * static_cast<std::uint32_t>(first[1])) >> 32);
    }
    PARHELION_HD int at(int offset, std::uint32_t unrolled) const
    {
        if (unrolled <= begin[offset]) { return 0; }
        const int strip = static_cast<int>(static_cast<float>(unrolled - begin[offset]) * per_unit[offset]);
        return strip < count(offset) ? strip : count(offset) - 1;
    }
};

struct GpuColumns
{
    GpuStrips strips[2]; // strips along x and along y
    int count = 1;       // number of columns of all zones

    // Returns the first column of a zone.
    PARHELION_HD int first(const GpuCell& cell, int zone) const
    {
        const int x = cell.offset_of(zone, 0), y = cell.offset_of(zone, 1), z = cell.offset_of(zone, 2);
        const GpuStrips &sx = strips[0], &sy = strips[1];
        const int before = sx.first[x] * sy.first[cell.pulses[1] + 1] + sx.count(x) * sy.first[y];
        return before * (cell.pulses[2] + 1) + sx.count(x) * sy.count(y) * z;
    }
    PARHELION_HD int strip(const GpuCell& cell, int d, int offset, std::uint32_t x) const
    {
        return cell.is_divided(d) ? strips[d].at(offset, cell.unrolled(d, x)) : strips[d].around(x);
    }
    PARHELION_HD int column(const GpuCell& cell, int zone, std::uint32_t x, std::uint32_t y) const
    {
        const int offset_y = cell.offset_of(zone, 1);
        return first(cell, zone) + strip(cell, 0, cell.offset_of(zone, 0), x) * strips[1].count(offset_y) +
               strip(cell, 1, offset_y, y);
    }
};

} // namespace parhelion
