// SPDX-License-Identifier: Apache-2.0
#include "model/pair_kinds.hpp"

#include <algorithm>
#include <cstddef>

namespace parhelion::pair_kind {

namespace {

std::vector<bool> types_with_lennard_jones(const Topology& topology)
{
    const auto types = static_cast<std::size_t>(topology.types());
    std::vector<bool> has(types);
    for (std::size_t entry = 0; entry < types * types; ++entry)
    {
        if (topology.c6[entry] != 0 || topology.c12[entry] != 0) { has[entry / types] = true; }
    }
    return has;
}

std::vector<std::uint8_t> kinds_of(const MoleculeType& molecule, const std::vector<bool>& has_lennard_jones)
{
    std::vector<std::uint8_t> kinds;
    for (const Atom& atom : molecule.atoms)
    {
        const bool has_lj = has_lennard_jones[static_cast<std::size_t>(atom.type)];
        kinds.push_back(static_cast<std::uint8_t>((atom.charge != 0 ? charge : 0) | (has_lj ? lennard_jones : 0)));
    }
    const auto has = [&](std::uint8_t kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
    if (has(charge) && has(lennard_jones) && !has(any))
    {
        std::ranges::replace(kinds, lennard_jones, static_cast<std::uint8_t>(lennard_jones | comes_last));
    }
    return kinds;
}

std::int64_t count_last(const Topology& topology, const std::vector<std::vector<std::uint8_t>>& kinds)
{
    std::int64_t last = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto comes_last_here = [](std::uint8_t kind) { return (kind & comes_last) != 0; };
        last += block.count * std::ranges::count_if(kinds[static_cast<std::size_t>(block.type)], comes_last_here);
    }
    return last;
}

} // namespace

std::vector<std::vector<std::uint8_t>> find_pair_kinds(const Topology& topology)
{
    constexpr std::int64_t least_part = 10; // a tenth
    const std::vector<bool> has_lennard_jones = types_with_lennard_jones(topology);
    std::vector<std::vector<std::uint8_t>> kinds;
    for (const MoleculeType& molecule : topology.molecule_types) { kinds.push_back(kinds_of(molecule, has_lennard_jones)); }
    if (least_part * count_last(topology, kinds) < std::max<std::int64_t>(topology.atom_count(), 1))
    {
        for (std::vector<std::uint8_t>& of_molecule : kinds) { std::ranges::fill(of_molecule, any); }
    }
    return kinds;
}

std::int64_t count_last_atoms(const Topology& topology) { return count_last(topology, find_pair_kinds(topology)); }

} // namespace parhelion::pair_kind
