// SPDX-License-Identifier: Apache-2.0
// Finds the bonded term with the largest distance between its atoms, to explain an
// error about bonded atoms that are too far apart. Cost: one pass over all terms.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct LongestTerm
{
    double length = -1;          // nm, to the nearest image; -1: the system has no terms of two or more atoms
    std::int64_t a = -1, b = -1; // the two atoms of the term at this distance, as global atoms
};

// Returns the longest term of the system. `x` and `box` are in nm, `x` in input order.
LongestTerm longest_term(const Topology& topology, const std::vector<Vec3<double>>& x, const Box<double>& box);

} // namespace parhelion
