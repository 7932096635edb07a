// SPDX-License-Identifier: Apache-2.0
// Counts per molecule copy when there are several groups, per molecule type when there is one.
#include "dynamics/degrees_of_freedom.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// Degrees of freedom of each atom of one molecule.
std::vector<double> of_molecule(const MoleculeType& type)
{
    std::vector<double> dof(type.atoms.size(), 3);
    const auto take = [&](int atom, double amount) { dof[static_cast<std::size_t>(atom)] -= amount; };
    for (const Constraint& c : type.constraints)
    {
        take(c.a, 0.5);
        take(c.b, 0.5);
    }
    for (const Settle& s : type.settles)
    {
        for (const int atom : {s.oxygen, s.hydrogen_a, s.hydrogen_b}) { take(atom, 1); }
    }
    return dof;
}

} // namespace

std::vector<double> degrees_of_freedom(const Topology& topology, ComMode com_mode, const AtomGroups& temperature_groups,
                                       const AtomGroups& com_groups)
{
    // In each pair of temperature group and centre-of-mass group; the last column is for atoms in no centre-of-mass group.
    const int columns = com_groups.count + 1;
    std::vector<std::vector<double>> dof(static_cast<std::size_t>(temperature_groups.count),
                                         std::vector<double>(static_cast<std::size_t>(columns)));
    for (const MoleculeBlock& block : topology.blocks)
    {
        const std::vector<double> molecule = of_molecule(topology.molecule_types[static_cast<std::size_t>(block.type)]);
        if (temperature_groups.of_atom.empty() && com_groups.of_atom.empty())
        {
            for (const double d : molecule) { dof[0][0] += d * static_cast<double>(block.count); }
            continue;
        }
        std::int64_t atom = block.first_atom;
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (const double d : molecule)
            {
                const int column = std::min<int>(com_groups.group(atom), com_groups.count);
                dof[temperature_groups.group(atom)][static_cast<std::size_t>(column)] += d;
                ++atom;
            }
        }
    }
    std::vector<double> result(dof.size());
    for (std::size_t column = 0; column < static_cast<std::size_t>(columns); ++column)
    {
        double total = 0;
        for (const auto& row : dof) { total += std::max(row[column], 0.0); }
        const bool is_group = column + 1 < static_cast<std::size_t>(columns);
        const double removed = com_mode == ComMode::Linear && is_group ? std::min(3.0, total) : 0;
        for (std::size_t g = 0; g < dof.size(); ++g)
        {
            if (total > 0) { result[g] += std::max(dof[g][column], 0.0) * (total - removed) / total; }
        }
    }
    return result;
}

} // namespace parhelion
