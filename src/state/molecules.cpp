// SPDX-License-Identifier: Apache-2.0
#include "state/molecules.hpp"

#include <algorithm>

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

MoleculeList molecules_on_rank(const Topology& topology, const std::vector<std::int32_t>& global_of_slot,
                               const std::vector<std::int32_t>& slot_of_global)
{
    MoleculeList list;
    list.first_atom.resize(topology.molecule_types.size());
    for (const std::int32_t atom : global_of_slot)
    {
        if (atom < 0) { continue; }
        const AtomAddress address = topology.locate(atom);
        // The lowest atom here speaks for its molecule; others find one before them, nearly always the next.
        const auto first = slot_of_global.begin() + address.molecule_first_atom;
        if (std::any_of(std::reverse_iterator(slot_of_global.begin() + atom), std::reverse_iterator(first),
                        [](std::int32_t slot) { return slot >= 0; }))
        {
            continue;
        }
        list.first_atom[static_cast<std::size_t>(address.type)].push_back(static_cast<std::int32_t>(address.molecule_first_atom));
    }
    for (auto& copies : list.first_atom) { std::sort(copies.begin(), copies.end()); }
    return list;
}

} // namespace parhelion
