// SPDX-License-Identifier: Apache-2.0
// Copies of molecules, by molecule type: what is known per type is placed by the first global atom of each copy; local atom a of
// a copy is global atom first_atom + a. Output takes all copies, the lists of what a rank computes (forces/bonded.hpp,
// dynamics/constraints.hpp) are made from those of which it holds an atom.
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
inline MoleculeList all_molecules(const Topology& topology)
{
    MoleculeList list;
    list.first_atom.resize(topology.molecule_types.size());
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto size = static_cast<std::int64_t>(topology.molecule_types[block.type].atoms.size());
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            list.first_atom[block.type].push_back(static_cast<std::int32_t>(block.first_atom + copy * size));
        }
    }
    return list;
}

} // namespace parhelion
