// SPDX-License-Identifier: Apache-2.0
// Finds rigid triangles of constraints, such as waters whose topology has three bonds or constraints instead of a settle.
//
// The idea: SETTLE solves such a triangle in closed form; LINCS needs iterations, which
// take longer. The method should not depend on how the topology was written, because
// the motion does not. Cost: one pass over the constraints of each molecule type.
#pragma once

#include "model/topology.hpp"

#include <cstdint>

namespace parhelion {

// Replaces constraints by settles where they hold three atoms at fixed distances and no further atom,
// and SETTLE applies. It applies if two lengths are equal and the third one joins two atoms of equal
// mass. Other constraints stay. Triangles with an angle below 20 degrees stay, too: they may turn so far
// in a step that LINCS finds a solution where SETTLE has none. Returns the number of replaced triangles
// over all copies. Preconditions: bonds are converted to constraints; no pair is constrained twice.
std::int64_t settle_rigid_triangles(Topology& topology);

} // namespace parhelion
