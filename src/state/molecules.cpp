// SPDX-License-Identifier: Apache-2.0
#include "state/molecules.hpp"

namespace parhelion {

MoleculeList all_molecules(const Topology& topology)
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
