// SPDX-License-Identifier: Apache-2.0
// The cell of a rank on a GPU, and the zones of its atoms: the territory of state/territory.hpp for atoms whose
// owners every rank knows.
//
// The idea: the box is unrolled from slightly below the rank's lower corner. In every divided dimension atoms then lie
// at offsets 0, 1, ... cells ahead, and distances need no periodic images. A *zone* is the atoms at one offset; zone 0
// is home. Zones are numbered lexicographically (z fastest). So each zone has one owner, and the atoms of one pulse of
// a staged exchange (z first, then y, then x) are contiguous. A pair belongs to the rank for which the smaller of its
// two offsets is 0 in every dimension. Unrolled pairs are unambiguous if divided box edges are longer than twice the
// reach plus the size of clusters. An atom has the offset of its owner's cell, even if it has moved out of that cell.
//
// The struct is plain data and an argument of kernels. Coordinates are the leading 32 bits of positions.
#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"

#include <cstdint>

namespace parhelion {

struct GpuCell
{
    int cells[3] = {1, 1, 1};           // numbers of cells of the grid
    int cell[3] = {0, 0, 0};            // indices of this rank's cell
    int pulses[3] = {0, 0, 0};          // numbers of cells ahead from which atoms come; 0 in an undivided dimension
    std::uint32_t lower[3] = {0, 0, 0}; // lowest coordinates of the cell
    std::uint32_t width[3] = {0, 0, 0}; // width of the cell; 0 in an undivided dimension
    // The origin of the unrolled box: below `lower` by more than atoms may be outside of their cells; 0 if undivided.
    std::uint32_t origin[3] = {0, 0, 0};
    double reach = 0;       // nm: reach of the pair list
    Vec3<double> overhang;  // nm: how far outside its owner's cell an atom may be
    bool is_tilted = false; // true for a tilted box

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
    // Returns true if this rank computes the pairs between atoms of zone a and atoms of zone b.
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
