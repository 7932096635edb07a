// SPDX-License-Identifier: Apache-2.0
// The nine numbers by which files give a box: its edge vectors a, b, c, nm.
#pragma once

#include "base/box.hpp"

#include <array>
#include <string>

namespace parhelion {

using BoxEdges = std::array<double, 9>; // ax ay az bx by bz cx cy cz

BoxEdges edges_of(const Box<double>& box);

// The box of these edges, and in `problem` a sentence that says why they are none of a periodic box: a is not along x, b not in
// the xy plane, or an edge leans by more than half of another one, so that a shorter one would do. As GROMACS, a thousandth more
// is taken. Requires a positive diagonal.
Box<double> box_of(const BoxEdges& edges, std::string& problem);

} // namespace parhelion
