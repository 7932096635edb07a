// SPDX-License-Identifier: Apache-2.0
// Atoms that do not move along some axes: freezegrps of the .mdp.
//
// The idea: Atom::frozen marks frozen atoms per molecule type, like every property of atoms. Data that are made once
// per type, above all constraints, then need no special case. Copies of a type with different frozen atoms become
// types of their own, with the same name. Forces, energies and virials are computed as if all atoms could move.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

inline constexpr std::uint8_t every_axis = 7;

// Returns the inverse mass (1/u) by which constraint forces move the atom: 0 if it is frozen along every axis, or a virtual site.
inline double mobile_inverse_mass(const Atom& atom) { return atom.frozen == every_axis || atom.mass == 0 ? 0 : 1 / atom.mass; }

// Freezes global atom g along axes[g] (bits as in Atom::frozen). Removes constraints and settles between atoms
// that are frozen along every axis, since nothing can change their lengths. Costs one pass over the atoms.
void freeze_atoms(Topology& topology, const std::vector<std::uint8_t>& axes);

} // namespace parhelion
