// SPDX-License-Identifier: Apache-2.0
// The compression inside .xtc: integer positions (nm times the precision, rounded) become a stream of bits.
//
// The idea: atoms next to each other in the list are near each other in space. An atom is stored in full, as three numbers of the
// range that the whole frame spans; up to eight atoms after it are stored as small differences from their predecessor, in a
// window whose width follows the data up and down through a table of 73 widths, each about 2^(1/3) of the one before, so that
// three numbers of width i fit i bits. In a pair, the second atom goes first: for water (O H H) both differences are then O-H
// bonds. After each atom stored in full one bit says whether the length of the run or the window changes; if so five bits say
// how. Cost: about 100 bits per water at 0.001 nm; about 35 ns per atom to write, 16 to read, on one core (bench:
// io/trajectory_bench).
#pragma once

#include "base/vec3.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

using GridPoint = Vec3<std::int32_t>;

// The components of a frame's atoms differ by less than this: beyond, readers disagree about how many bits a number takes.
inline constexpr std::int64_t xtc_widest_range = (std::int64_t{1} << 30) - 1;

// What the decoder must know besides the bits.
struct XtcRange
{
    GridPoint low, high;     // the smallest and largest components of any atom
    std::int32_t window = 0; // index of the first window in the table of widths
};

// The range of at least one point, and the window to start with.
XtcRange range_of(std::span<const GridPoint> points);

// Appends the bits of `points` to `bytes`, ending at a whole byte. `range` is range_of(points), narrower than xtc_widest_range.
// Leaves `points` reordered within pairs.
void compress(std::span<GridPoint> points, const XtcRange& range, std::vector<unsigned char>& bytes);

// The reverse, for any bytes whatever: false if they are not `points.size()` points within range.
bool decompress(std::span<const std::byte> bytes, const XtcRange& range, std::span<GridPoint> points);

} // namespace parhelion
