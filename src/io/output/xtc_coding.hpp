// SPDX-License-Identifier: Apache-2.0
// The compression of .xtc: integer positions (nm times the precision, rounded) become a stream of bits.
//
// The idea: neighbouring atoms in the list are near each other in space. An atom is stored in full, as three
// numbers within the range of the whole frame. Up to eight atoms after it are stored as small differences
// from their predecessor. The width of their window adapts to the data by a table of 73 widths, each about
// 2^(1/3) of the one before, so that three numbers of width i fit into i bits. In a pair, the second atom
// comes first: for water (O H H) both differences are then O-H bonds. After each atom stored in full, one bit
// says whether the length of the run or the window changes; if so, five bits say how. Cost: about 100 bits
// per water at 0.001 nm; about 35 ns per atom to write, 16 to read, on one core (measured in bench/io/trajectory_bench.cpp).
#pragma once

#include "base/vec3.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

using GridPoint = Vec3<std::int32_t>;

// The components of a frame's atoms must differ by less than this. For larger differences readers disagree on the number of bits.
inline constexpr std::int64_t xtc_widest_range = (std::int64_t{1} << 30) - 1;

// The data besides the bits that the decoder needs.
struct XtcRange
{
    GridPoint low, high;     // the smallest and largest components of any atom
    std::int32_t window = 0; // index of the first window in the table of widths
};

// Returns the range of at least one point, and the first window.
XtcRange range_of(std::span<const GridPoint> points);

// Appends the bits of `points` to `bytes`, padded to a whole byte. `range` must be range_of(points)
// and narrower than xtc_widest_range. The function reorders `points` within pairs.
void compress(std::span<GridPoint> points, const XtcRange& range, std::vector<unsigned char>& bytes);

// Decodes any bytes into `points`. Returns false if the bytes do not encode `points.size()` points within the range.
bool decompress(std::span<const std::byte> bytes, const XtcRange& range, std::span<GridPoint> points);

} // namespace parhelion
