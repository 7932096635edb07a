// SPDX-License-Identifier: Apache-2.0
// The nine numbers of a box in files: its edge vectors a, b, c, nm.
#pragma once

#include "base/box.hpp"

#include <array>
#include <string>

namespace parhelion {

using BoxEdges = std::array<double, 9>; // ax ay az bx by bz cx cy cz

BoxEdges edges_of(const Box<double>& box);

// Returns the box with these edges. If they are not those of a periodic box, `problem` gets a sentence. Then a
// is not along x, b is not in the xy plane, or an edge leans by more than half of another edge, so that a
// shorter edge exists. As in GROMACS, an excess of a thousandth is accepted. Precondition: a positive diagonal.
Box<double> box_of(const BoxEdges& edges, std::string& problem);

} // namespace parhelion
