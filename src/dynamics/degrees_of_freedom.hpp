// SPDX-License-Identifier: Apache-2.0
// How many degrees of freedom each temperature group has: what turns kinetic energies into temperatures.
#pragma once

#include "dynamics/atom_groups.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <vector>

namespace parhelion {

// Per temperature group: 3 per atom, none of a virtual site, less one per constraint (half for each of its atoms; a SETTLE water
// is three constraints and takes one from each of its atoms), less 3, with rotation 6, for every centre-of-mass group whose
// motion is removed, shared over the temperature groups in proportion to the degrees of freedom they have in it. Never below 0.
// As GROMACS counts.
std::vector<double> degrees_of_freedom(const Topology& topology, ComMode com_mode, const AtomGroups& temperature_groups,
                                       const AtomGroups& com_groups);

// The part of all degrees of freedom in which groups of atoms that constraints hold together turn, about axes or joints: of each
// group all but its three of translation.
double turning_share(const Topology& topology);

} // namespace parhelion
