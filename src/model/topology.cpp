// SPDX-License-Identifier: Apache-2.0
#include "model/topology.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace parhelion {

bool MoleculeType::excludes(std::int32_t a, std::int32_t b) const
{
    const auto start = exclusion_start.begin() + a;
    return std::binary_search(excluded.begin() + start[0], excluded.begin() + start[1], b);
}

void Topology::finish()
{
    std::int64_t first = 0;
    for (MoleculeBlock& block : blocks)
    {
        block.first_atom = first;
        first += block.count * static_cast<std::int64_t>(molecule_types[block.type].atoms.size());
    }
}

std::int64_t Topology::atom_count() const
{
    std::int64_t atoms = 0;
    for (const MoleculeBlock& block : blocks)
    {
        atoms += block.count * static_cast<std::int64_t>(molecule_types[block.type].atoms.size());
    }
    return atoms;
}

std::int64_t Topology::molecule_count() const
{
    std::int64_t molecules = 0;
    for (const MoleculeBlock& block : blocks) { molecules += block.count; }
    return molecules;
}

AtomAddress Topology::locate(std::int64_t global_atom) const
{
    PARHELION_EXPECTS(global_atom >= 0 && global_atom < atom_count());
    // Finds the last block that starts at or before the atom. Empty blocks share their start with the next block and are skipped.
    const auto after = std::upper_bound(blocks.begin(), blocks.end(), global_atom,
                                        [](std::int64_t atom, const MoleculeBlock& block) { return atom < block.first_atom; });
    const auto block = after - 1;
    const auto size = static_cast<std::int64_t>(molecule_types[block->type].atoms.size());
    AtomAddress address;
    address.block = static_cast<std::int32_t>(block - blocks.begin());
    address.type = block->type;
    address.copy = (global_atom - block->first_atom) / size;
    address.molecule_first_atom = block->first_atom + address.copy * size;
    address.local = static_cast<std::int32_t>(global_atom - address.molecule_first_atom);
    return address;
}

const Atom& Topology::atom(std::int64_t global_atom) const
{
    const AtomAddress address = locate(global_atom);
    return molecule_types[address.type].atoms[address.local];
}

const Residue& Topology::residue(std::int64_t global_atom) const
{
    const AtomAddress address = locate(global_atom);
    const MoleculeType& type = molecule_types[address.type];
    return type.residues[type.atoms[address.local].residue];
}

std::string Topology::describe(std::int64_t global_atom) const
{
    const AtomAddress address = locate(global_atom);
    const MoleculeType& type = molecule_types[address.type];
    const Atom& atom = type.atoms[address.local];
    const Residue& residue = type.residues[atom.residue];
    // Molecules of one residue are numbered through the file (water 1, 2, 3 ...). Other residues keep their type's numbers.
    std::int64_t number = residue.number;
    if (type.residues.size() == 1)
    {
        number = 1 + address.copy;
        for (std::int32_t b = 0; b < address.block; ++b)
        {
            number += blocks[b].count * static_cast<std::int64_t>(molecule_types[blocks[b].type].residues.size());
        }
    }
    return "atom " + std::to_string(global_atom + 1) + " " + atom.name + " of residue " + std::to_string(number) + " " +
           residue.name;
}

std::int64_t Topology::interaction_count(InteractionKind kind) const
{
    std::int64_t n = 0;
    for (const MoleculeBlock& block : blocks)
    {
        n += block.count * static_cast<std::int64_t>(molecule_types[block.type].of(kind).size());
    }
    return n;
}

std::int64_t Topology::position_restraint_count() const
{
    return interaction_count(InteractionKind::PositionRestraint) + interaction_count(InteractionKind::FlatBottomRestraint);
}

std::int64_t Topology::constraint_count() const
{
    std::int64_t n = 0;
    for (const MoleculeBlock& block : blocks)
    {
        const MoleculeType& type = molecule_types[block.type];
        n += block.count * static_cast<std::int64_t>(type.constraints.size() + 3 * type.settles.size());
    }
    return n;
}

std::int64_t Topology::site_count() const
{
    std::int64_t n = 0;
    for (const MoleculeBlock& block : blocks)
    {
        n += block.count * static_cast<std::int64_t>(molecule_types[block.type].sites.size());
    }
    return n;
}

double Topology::total_mass() const
{
    double total = 0;
    for (const MoleculeBlock& block : blocks)
    {
        double molecule = 0;
        for (const Atom& atom : molecule_types[block.type].atoms) { molecule += atom.mass; }
        total += molecule * static_cast<double>(block.count);
    }
    return total;
}

double Topology::total_charge() const
{
    double total = 0;
    for (const MoleculeBlock& block : blocks)
    {
        double molecule = 0;
        for (const Atom& atom : molecule_types[block.type].atoms) { molecule += atom.charge; }
        total += molecule * static_cast<double>(block.count);
    }
    return total;
}

void convert_bonds_to_constraints(Topology& topology, ConstraintMode mode)
{
    if (mode == ConstraintMode::None) { return; }
    for (MoleculeType& type : topology.molecule_types)
    {
        const auto is_hydrogen = [&](std::int32_t a) {
            const std::string& name = type.atoms[a].name;
            return !name.empty() && (name[0] == 'H' || name[0] == 'h');
        };
        std::vector<bool> settled(type.atoms.size(), false);
        for (const Settle& s : type.settles) { settled[s.oxygen] = settled[s.hydrogen_a] = settled[s.hydrogen_b] = true; }
        for (const InteractionKind kind : {InteractionKind::HarmonicBond, InteractionKind::G96Bond})
        {
            std::vector<Interaction> kept;
            for (const Interaction& bond : type.of(kind))
            {
                const std::int32_t a = bond.atoms[0], b = bond.atoms[1];
                if (settled[a] && settled[b]) { continue; }
                if (mode == ConstraintMode::HBonds && !is_hydrogen(a) && !is_hydrogen(b)) { kept.push_back(bond); }
                else { type.constraints.push_back({a, b, topology.parameters_of(kind)[bond.parameters][0]}); }
            }
            type.of(kind) = std::move(kept);
        }
    }
}

} // namespace parhelion
