// SPDX-License-Identifier: Apache-2.0
// What any system that a reader accepts must be, however its file was damaged.
#pragma once

#include "model/system.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parhelion {

inline bool finite(const std::vector<Vec3<double>>& list)
{
    for (const Vec3<double>& a : list)
    {
        if (!std::isfinite(a.x) || !std::isfinite(a.y) || !std::isfinite(a.z)) { return false; }
    }
    return true;
}

inline bool finite(const std::vector<double>& list)
{
    for (const double a : list)
    {
        if (!std::isfinite(a)) { return false; }
    }
    return true;
}

inline bool finite(const Topology& topology)
{
    if (!finite(topology.c6) || !finite(topology.c12) || !std::isfinite(topology.fudge_qq)) { return false; }
    for (const auto& kind : topology.parameters)
    {
        for (const InteractionParameters& p : kind)
        {
            if (!finite(p)) { return false; }
        }
    }
    for (const MoleculeType& type : topology.molecule_types)
    {
        for (const Atom& atom : type.atoms)
        {
            if (!std::isfinite(atom.mass) || !std::isfinite(atom.charge)) { return false; }
        }
        for (const Constraint& constraint : type.constraints)
        {
            if (!std::isfinite(constraint.length)) { return false; }
        }
        for (const Settle& settle : type.settles)
        {
            if (!std::isfinite(settle.oh) || !std::isfinite(settle.hh)) { return false; }
        }
    }
    return true;
}

// Every index of the system points at something.
inline bool consistent(const System& system)
{
    const Topology& topology = system.topology;
    for (const MoleculeBlock& block : topology.blocks)
    {
        if (block.type < 0 || block.type >= static_cast<int>(topology.molecule_types.size()) || block.count < 0) { return false; }
    }
    for (const MoleculeType& type : topology.molecule_types)
    {
        const auto is_atom = [&](std::int64_t a) { return a >= 0 && a < static_cast<std::int64_t>(type.atoms.size()); };
        for (const Atom& atom : type.atoms)
        {
            if (atom.type < 0 || atom.type >= topology.types() || atom.residue < 0 ||
                atom.residue >= static_cast<int>(type.residues.size()))
            {
                return false;
            }
        }
        for (int kind = 0; kind < interaction_kinds; ++kind)
        {
            for (const Interaction& term : type.interactions[static_cast<std::size_t>(kind)])
            {
                for (int i = 0; i < arity(static_cast<InteractionKind>(kind)); ++i)
                {
                    if (!is_atom(term.atoms[static_cast<std::size_t>(i)])) { return false; }
                }
                const std::size_t sets = topology.parameters[static_cast<std::size_t>(kind)].size();
                if (term.parameters < 0 || static_cast<std::size_t>(term.parameters) >= sets) { return false; }
            }
        }
        for (const Constraint& constraint : type.constraints)
        {
            if (!is_atom(constraint.a) || !is_atom(constraint.b)) { return false; }
        }
        for (const Settle& settle : type.settles)
        {
            if (!is_atom(settle.oxygen) || !is_atom(settle.hydrogen_a) || !is_atom(settle.hydrogen_b)) { return false; }
        }
        for (const std::int32_t a : type.excluded)
        {
            if (!is_atom(a)) { return false; }
        }
        if (type.exclusion_start.size() != type.atoms.size() + 1) { return false; }
    }
    for (const auto& [name, group] : system.groups)
    {
        for (const std::int64_t a : group)
        {
            if (a < 0 || a >= topology.atom_count()) { return false; }
        }
    }
    return system.x.size() == static_cast<std::size_t>(topology.atom_count());
}

} // namespace parhelion
