// SPDX-License-Identifier: Apache-2.0
// Which bonded term is the longest: what to look at when atoms that belong together are too far apart. Cost: a look at every
// term.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct LongestTerm
{
    double length = -1;          // nm, to the nearest image; -1: there are no terms of two atoms and more
    std::int64_t a = -1, b = -1; // the two of its atoms that are so far apart, global
};

// x and box in nm, input order.
LongestTerm longest_term(const Topology& topology, const std::vector<Vec3<double>>& x, const Box<double>& box);

} // namespace parhelion
