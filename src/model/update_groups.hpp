// SPDX-License-Identifier: Apache-2.0
// Update groups: the smallest sets of atoms that can be moved on their own.
//
// The idea: atoms that constraints tie together, directly or through others, must be updated together, and virtual sites with the
// atoms that they are made of; all others need nobody.
// Ranks therefore own update groups, not atoms, and place each by one of its atoms, the *reference atom*; then no constraint ever
// crosses ranks. Known from the topology alone, once per molecule type. Cost: making them is quadratic in the atoms of a group.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// The update groups of one molecule type; atoms are local to the molecule.
struct MoleculeUpdateGroups
{
    std::vector<std::int32_t> reference_of_atom; // the reference atom of the atom's group
};

struct UpdateGroups
{
    std::vector<MoleculeUpdateGroups> molecule_types;
};

// The connected components of each molecule type under its constraints, settles and virtual sites; an atom without any is a group
// of its own. The reference atom has the fewest steps between itself and the group's farthest atom (a settle ties its hydrogens
// to the oxygen); of several such atoms, it is the lowest. Precondition: bonds are converted to constraints already.
UpdateGroups make_update_groups(const Topology& topology);

} // namespace parhelion
