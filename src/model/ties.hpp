// SPDX-License-Identifier: Apache-2.0
// Represents the bonds, constraints and settles of a molecule as a graph,
// and detects molecules that are bonded to their own periodic image.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct Tie
{
    std::int32_t a = 0, b = 0; // indices in the molecule
    double length = 0;         // nm, at rest
};

// Returns the ties of bonds, constraints and settles. The length of a FENE bond's tie is the bond's
// maximal length, which it never reaches. A settle ties each of its hydrogens to the oxygen.
std::vector<Tie> ties_of(const Topology& topology, const MoleculeType& type);

// Returns whether a copy of the molecule is tied to its own image, like a sheet or a tube through the box. Ties join nearest
// images. x and box: nm, x in input order. Costs one pass over the ties; nothing if there are no rings or all rings are short.
bool is_tied_to_image(const Topology& topology, const MoleculeBlock& block, const std::vector<Vec3<double>>& x,
                      const Box<double>& box);

} // namespace parhelion
