// SPDX-License-Identifier: Apache-2.0
// A range of neighbouring planes of PME's grid, or of rows of its spectrum.
#pragma once

namespace parhelion::mesh {

// The range is periodic: the first plane of the box follows its last one.
struct PlaneRange
{
    int first = 0, count = 0;

    // Returns the index of plane x of `points` planes, counted from the first of the range. If it is < count, x is in the range.
    constexpr int from_first(int x, int points) const { return x >= first ? x - first : x - first + points; }
    constexpr bool contains(int x, int points) const { return from_first(x, points) < count; }
    // Returns the i-th plane of the range. The grid has `points` planes.
    constexpr int plane(int i, int points) const { return first + i >= points ? first + i - points : first + i; }
    bool operator==(const PlaneRange&) const = default;
};

} // namespace parhelion::mesh
