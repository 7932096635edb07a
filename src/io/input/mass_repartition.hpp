// SPDX-License-Identifier: Apache-2.0
// mass-repartition-factor: heavier hydrogens, which get mass from the atoms they are bound to, allow a longer time step. The
// rule is that of GROMACS 2024 (mdp options, mass-repartition-factor). Forces and static averages do not depend on masses.
#pragma once

#include "base/error.hpp"
#include "model/topology.hpp"

namespace parhelion {

// Makes light atoms heavier. The least mass is `factor` (at least 1) times the smallest mass of an atom. Every lighter atom
// gets it, and the atom to which it is tied (model/ties.hpp) loses as much. If it is tied to several, light ones among
// these are ignored. An atom that is tied to none keeps its mass, with a warning (W190). where: place of the option. Throws
// InputError E571 if an atom would become lighter than the least mass, E572 if a light atom is tied to several atoms.
void repartition_masses(double factor, const SourceLocation& where, Topology& topology, Diagnostics& diagnostics);

} // namespace parhelion
