// SPDX-License-Identifier: Apache-2.0
// Counts the degrees of freedom of each temperature group, which relate its kinetic energy to its temperature.
#pragma once

#include "dynamics/atom_groups.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <vector>

namespace parhelion {

// Returns the degrees of freedom of each temperature group: 3 per atom, none for a virtual site. A constraint removes
// one, half from each of its atoms. A SETTLE water has three constraints, so each of its atoms loses one. For every
// group whose centre-of-mass motion is removed, three are subtracted, or six with rotation. They are subtracted from temperature
// groups in proportion to their degrees of freedom in that group. No result is below 0. So does GROMACS.
std::vector<double> degrees_of_freedom(const Topology& topology, ComMode com_mode, const AtomGroups& temperature_groups,
                                       const AtomGroups& com_groups);

// Returns the fraction of all degrees of freedom that is in rotations within groups of atoms that constraints hold
// together. All degrees of freedom of such a group count as rotations except the three of its translation.
double turning_share(const Topology& topology);

} // namespace parhelion
