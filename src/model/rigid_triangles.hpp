// SPDX-License-Identifier: Apache-2.0
// Rigid triangles of constraints, as waters are whose topology has three bonds or three constraints instead of a settle.
//
// The idea: SETTLE solves such a triangle in closed form, and LINCS by iterations, which take longer. Who wrote the topology does
// not matter to the motion, so that it should not matter to the method. Cost: one pass over the constraints of each molecule
// type.
#pragma once

#include "model/topology.hpp"

#include <cstdint>

namespace parhelion {

// Makes settles of the constraints that hold three atoms at fixed distances and nothing else, where SETTLE applies: two of the
// lengths are equal, and so are the masses of the two atoms that the third length joins. All other constraints stay, also those
// of a triangle with an angle below 20 degrees: it turns so far in a step that the closed form may have no solution where
// iterations still find one. Returns how many triangles were found, over all copies. Precondition: bonds are converted to
// constraints already, and no pair of atoms is constrained twice.
std::int64_t settle_rigid_triangles(Topology& topology);

} // namespace parhelion
