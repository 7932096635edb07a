// SPDX-License-Identifier: Apache-2.0
// Lists the copies of each molecule type by their first global atom: local atom a of a copy is global
// atom first_atom + a. Output needs all copies. The work lists of a rank (interactions/bonded/bonded.hpp,
// dynamics/constraints.hpp) are made from those copies of which the rank holds an atom.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct MoleculeList
{
    std::vector<std::vector<std::int32_t>> first_atom; // [molecule type][copy]
};

// Returns every molecule of the system.
MoleculeList all_molecules(const Topology& topology);

} // namespace parhelion
