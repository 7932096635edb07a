// SPDX-License-Identifier: Apache-2.0
// The extra points of an AMBER topology: atoms without mass that the file describes only by a bond.
// Their place follows from the kind of molecule. In a four-site water (TIP4P and its variants, OPC)
// it is on the bisector of the rigid triangle, as far from the oxygen as the bond is long.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct AmberBond
{
    std::int32_t a = 0, b = 0; // indices of the two atoms in the molecule
    InteractionParameters parameters;
};

// Returns whether one of the bond's atoms is an extra point.
bool joins_point(const AmberBond& bond, const MoleculeType& molecule);

// Replaces the extra points of a molecule by virtual sites and removes the bonds of the extra
// points. Returns the first massless atom whose place is unknown, or -1 if there is none.
std::int32_t add_extra_points(std::vector<AmberBond>& bonds, MoleculeType& molecule);

} // namespace parhelion
