// SPDX-License-Identifier: Apache-2.0
// The cell of a rank of several on GPUs, and the zones of atoms it sees: the territory of state/territory.hpp for atoms whose
// owners every rank knows.
//
// The idea: the box is unrolled from a little below the rank's lower corner, so that in every divided dimension atoms lie at
// offsets 0, 1, ... cells ahead and distances need no periodic images. A *zone* is the atoms at one offset; zone 0 is home. Zones
// are numbered lexicographically (z fastest), so that what a pulse of a staged exchange brings (z first, then y, then x) is
// contiguous, and each zone has one owner. A pair belongs to the rank that sees the lesser of the two offsets as 0 in every
// dimension. Unrolled pairs are unambiguous if divided box edges are longer than twice the reach and what the atoms of a cluster
// add to it. An atom has the offset of its owner's cell, wherever it is: it may stray from that cell, and be behind this rank's.
//
// Plain data: an argument of kernels. Coordinates are the leading 32 bits of positions.
#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"

#include <cstdint>

namespace parhelion {

struct GpuCell
{
    int cells[3] = {1, 1, 1};           // of the grid
    int cell[3] = {0, 0, 0};            // this rank's
    int pulses[3] = {0, 0, 0};          // cells ahead that atoms come from; 0 in a dimension that is not divided
    std::uint32_t lower[3] = {0, 0, 0}; // the cell's first coordinate
    std::uint32_t width[3] = {0, 0, 0}; // and how many it has; 0 in a dimension that is not divided
    // Where the box is unrolled from: behind `lower` by more than atoms may stray; 0 in a dimension that is not divided.
    std::uint32_t origin[3] = {0, 0, 0};
    double reach = 0;       // nm: of the pair list
    Vec3<double> overhang;  // nm: how far outside its owner's cell an atom may be
    bool is_tilted = false; // the box

    PARHELION_HD bool is_divided(int d) const { return cells[d] > 1; }
    PARHELION_HD bool is_everything() const { return cells[0] * cells[1] * cells[2] == 1; }
    PARHELION_HD std::uint32_t unrolled(int d, std::uint32_t x) const { return x - origin[d]; }
    PARHELION_HD int zones() const { return (pulses[0] + 1) * (pulses[1] + 1) * (pulses[2] + 1); }
    PARHELION_HD int zone_at(int x, int y, int z) const { return (x * (pulses[1] + 1) + y) * (pulses[2] + 1) + z; }
    PARHELION_HD int offset_of(int zone, int d) const
    {
        if (d == 2) { return zone % (pulses[2] + 1); }
        const int xy = zone / (pulses[2] + 1);
        return d == 1 ? xy % (pulses[1] + 1) : xy / (pulses[1] + 1);
    }
    // Is a pair of atoms of these zones this rank's?
    PARHELION_HD bool claims(int a, int b) const
    {
        for (int d = 0; d < 3; ++d)
        {
            if (offset_of(a, d) != 0 && offset_of(b, d) != 0) { return false; }
        }
        return true;
    }
};

} // namespace parhelion
