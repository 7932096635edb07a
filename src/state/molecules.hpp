// SPDX-License-Identifier: Apache-2.0
// Copies of molecules, by molecule type: what is known per type is placed by the first global atom of each copy; local atom a of
// a copy is global atom first_atom + a. Output takes all copies, the lists of what a rank computes
// (interactions/bonded/bonded.hpp, dynamics/constraints.hpp) are made from those of which it holds an atom.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct MoleculeList
{
    std::vector<std::vector<std::int32_t>> first_atom; // [molecule type][copy]
};

// Every molecule of the system.
MoleculeList all_molecules(const Topology& topology);

} // namespace parhelion
