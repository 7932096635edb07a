// SPDX-License-Identifier: Apache-2.0
// mass-repartition-factor: heavier hydrogens, whose mass the atoms they are bound to lend, allow a longer time step. The rule is
// that of GROMACS 2024 (mdp options, mass-repartition-factor); forces and static averages do not depend on masses.
#pragma once

#include "base/error.hpp"
#include "model/topology.hpp"

namespace parhelion {

// The least mass is `factor` (at least 1) times the smallest mass of an atom that the system has. Every lighter atom gets it, and
// the atom it is tied to (model/ties.hpp) loses as much; where it is tied to several, those that are light themselves do not
// count. An atom that is tied to none keeps its mass, with a warning (W190). where: the option's place.
// Throws InputError E571 where an atom would become lighter than the least mass, E572 where a light atom is tied to several.
void repartition_masses(double factor, const SourceLocation& where, Topology& topology, Diagnostics& diagnostics);

} // namespace parhelion
