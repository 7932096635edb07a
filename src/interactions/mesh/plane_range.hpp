// SPDX-License-Identifier: Apache-2.0
// Neighbouring planes of PME's grid, or rows of its spectrum.
#pragma once

namespace parhelion::mesh {

// Behind the last plane of the box comes its first.
struct PlaneRange
{
    int first = 0, count = 0;

    // Where plane x of `points` is, counted from the first of the range; in it, if that is less than count.
    constexpr int from_first(int x, int points) const { return x >= first ? x - first : x - first + points; }
    constexpr bool contains(int x, int points) const { return from_first(x, points) < count; }
    // The plane that is the i-th of the range.
    constexpr int plane(int i, int points) const { return first + i >= points ? first + i - points : first + i; }
    bool operator==(const PlaneRange&) const = default;
};

} // namespace parhelion::mesh
