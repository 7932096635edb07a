// SPDX-License-Identifier: Apache-2.0
// What holds the atoms of a molecule together: its bonds, constraints and settles as a graph, and whether it goes through the
// box.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct Tie
{
    std::int32_t a = 0, b = 0; // local to the molecule
    double length = 0;         // nm, at rest
};

// Of harmonic and G96 bonds, constraints, and settles, whose hydrogens are tied to the oxygen.
std::vector<Tie> ties_of(const Topology& topology, const MoleculeType& type);

// Is a copy of the block's molecule tied to its own image, as a sheet or a tube through the box is? Ties lead to nearest images.
// x and box in nm, x in input order. Cost: that of the ties; nothing for molecules without rings, or with short ones.
bool is_tied_to_image(const Topology& topology, const MoleculeBlock& block, const std::vector<Vec3<double>>& x,
                      const Box<double>& box);

} // namespace parhelion
