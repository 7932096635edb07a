// SPDX-License-Identifier: Apache-2.0
// Counts degrees of freedom per molecule copy if there are several groups, or per molecule type if there is one.
#include "dynamics/degrees_of_freedom.hpp"

#include "model/frozen_atoms.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace parhelion {

namespace {

int moving_axes(const Atom& atom) { return 3 - std::popcount(atom.frozen); }

// Returns the degrees of freedom of each atom of one molecule. A constraint takes half a degree of freedom from
// each of its atoms, or a whole one from one atom if the other atom has none left. GROMACS counts this way.
std::vector<double> of_molecule(const MoleculeType& type)
{
    std::vector<double> dof;
    for (const Atom& atom : type.atoms) { dof.push_back(moving_axes(atom)); }
    const auto take = [&](int atom, double amount) { dof[static_cast<std::size_t>(atom)] -= amount; };
    for (const Constraint& c : type.constraints)
    {
        const bool a_rests = moving_axes(type.atoms[static_cast<std::size_t>(c.a)]) == 0,
                   b_rests = moving_axes(type.atoms[static_cast<std::size_t>(c.b)]) == 0;
        take(c.a, a_rests ? 0 : b_rests ? 1 : 0.5);
        take(c.b, b_rests ? 0 : a_rests ? 1 : 0.5);
    }
    for (const Settle& s : type.settles)
    {
        for (const int atom : {s.oxygen, s.hydrogen_a, s.hydrogen_b}) { take(atom, 1); }
    }
    for (const VirtualSite& site : type.sites) { dof[static_cast<std::size_t>(site.atom)] = 0; }
    return dof;
}

// Returns the number of degrees of freedom of one molecule that turning_share() counts. `dof` is indexed by atom.
double turning_of_molecule(const MoleculeType& type, const std::vector<double>& dof)
{
    std::vector<std::size_t> group(type.atoms.size()); // after the loop below: of each atom, the lowest atom of its group
    std::iota(group.begin(), group.end(), std::size_t{0});
    const auto group_of = [&](int atom) {
        auto g = static_cast<std::size_t>(atom);
        while (group[g] != g) { g = group[g] = group[group[g]]; }
        return g;
    };
    const auto join = [&](int a, int b) {
        const auto [least, other] = std::minmax({group_of(a), group_of(b)});
        group[other] = least;
    };
    for (const Constraint& c : type.constraints) { join(c.a, c.b); }
    for (const Settle& s : type.settles) { join(s.oxygen, s.hydrogen_a), join(s.oxygen, s.hydrogen_b); }
    std::vector<double> of_group(group.size());
    for (std::size_t a = 0; a < group.size(); ++a) { of_group[group_of(static_cast<int>(a))] += dof[a]; }
    double turning = 0;
    for (const double d : of_group) { turning += std::max(0.0, d - 3); } // three are translation; a free atom has no more
    return turning;
}

} // namespace

double turning_share(const Topology& topology)
{
    double turning = 0, all = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        const std::vector<double> dof = of_molecule(type);
        turning += static_cast<double>(block.count) * turning_of_molecule(type, dof);
        all += static_cast<double>(block.count) * std::accumulate(dof.begin(), dof.end(), 0.0);
    }
    return all > 0 ? turning / all : 0;
}

std::vector<double> degrees_of_freedom(const Topology& topology, ComMode com_mode, const AtomGroups& temperature_groups,
                                       const AtomGroups& com_groups)
{
    // Counts each pair of temperature group and centre-of-mass group. The last column has atoms in no centre-of-mass group.
    const int columns = com_groups.count + 1;
    std::vector<std::vector<double>> dof(static_cast<std::size_t>(temperature_groups.count),
                                         std::vector<double>(static_cast<std::size_t>(columns)));
    std::vector<unsigned> moving(static_cast<std::size_t>(columns)); // by column: bits of the axes along which an atom moves
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        const std::vector<double> molecule = of_molecule(type);
        if (temperature_groups.of_atom.empty() && com_groups.of_atom.empty())
        {
            for (const double d : molecule) { dof[0][0] += d * static_cast<double>(block.count); }
            moving[0] = every_axis;
            continue;
        }
        std::int64_t atom = block.first_atom;
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (std::size_t a = 0; a < molecule.size(); ++a)
            {
                const auto column = static_cast<std::size_t>(std::min<int>(com_groups.group(atom), com_groups.count));
                dof[temperature_groups.group(atom)][column] += molecule[a];
                moving[column] |= every_axis & ~type.atoms[a].frozen;
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
        const double axes = std::popcount(moving[column]);
        const double of_group = com_mode == ComMode::None ? 0 : com_mode == ComMode::Angular ? 2 * axes : axes;
        const double removed = is_group ? std::min(of_group, total) : 0;
        for (std::size_t g = 0; g < dof.size(); ++g)
        {
            if (total > 0) { result[g] += std::max(dof[g][column], 0.0) * (total - removed) / total; }
        }
    }
    return result;
}

} // namespace parhelion
