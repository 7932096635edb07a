// SPDX-License-Identifier: Apache-2.0
// Update groups: the smallest sets of atoms that can be moved independently of all others.
//
// The idea: atoms that constraints tie together, directly or through other atoms, must be updated together. So must
// virtual sites and their constructing atoms. Ranks therefore own update groups, not single atoms. The position of
// one atom, the *reference atom*, decides which rank owns a group. No constraint then crosses ranks. Groups follow
// from the topology alone, once per molecule type. Cost: making a group takes time quadratic in its number of atoms.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// The update groups of one molecule type. Atoms are indices in the molecule.
struct MoleculeUpdateGroups
{
    std::vector<std::int32_t> reference_of_atom; // the reference atom of the atom's group
};

struct UpdateGroups
{
    std::vector<MoleculeUpdateGroups> molecule_types;
};

// Returns the connected components of each molecule type under its constraints, settles and virtual sites. A free atom is a
// group of its own. The reference atom has the fewest steps to the group's farthest atom (a settle ties its hydrogens to
// the oxygen). Among several such atoms, it has the lowest index. Precondition: bonds are converted to constraints already.
UpdateGroups make_update_groups(const Topology& topology);

} // namespace parhelion
