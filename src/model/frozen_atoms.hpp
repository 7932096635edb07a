// SPDX-License-Identifier: Apache-2.0
// Atoms that do not move along some axes: freezegrps of the .mdp.
//
// The idea: Atom::frozen says it per molecule type, as everything else is said of atoms, so that what is made once per molecule
// type (constraints above all) needs no other case. Copies that are frozen differently become types of their own, with the same
// name. Forces, energies and virials are those of atoms that move.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

inline constexpr std::uint8_t every_axis = 7;

// 1/u, of an atom as constraint forces move it: 0 if it is frozen along every axis, or a virtual site.
inline double mobile_inverse_mass(const Atom& atom) { return atom.frozen == every_axis || atom.mass == 0 ? 0 : 1 / atom.mass; }

// Freezes each atom along its `axes` (bits as Atom::frozen), by global number. Constraints and settles between atoms that are
// frozen along every axis go: nothing can change their lengths. Costs a pass over the atoms.
void freeze_atoms(Topology& topology, const std::vector<std::uint8_t>& axes);

} // namespace parhelion
