// SPDX-License-Identifier: Apache-2.0
#include "model/ties.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

// A spanning tree of the ties, in the order of a walk that reaches every atom once, and the ties that close rings.
struct TieTree
{
    std::vector<Tie> steps; // each tie leads from atom a, which the walk has reached, to atom b
    std::vector<Tie> closing;
};

TieTree walk(const std::vector<Tie>& ties, std::size_t atoms)
{
    std::vector<std::vector<std::size_t>> ties_at(atoms);
    for (std::size_t t = 0; t < ties.size(); ++t)
    {
        for (const std::int32_t atom : {ties[t].a, ties[t].b}) { ties_at[static_cast<std::size_t>(atom)].push_back(t); }
    }
    TieTree tree;
    std::vector<bool> is_reached(atoms), is_taken(ties.size());
    std::vector<std::int32_t> open;
    for (std::size_t start = 0; start < atoms; ++start)
    {
        if (is_reached[start]) { continue; }
        is_reached[start] = true;
        open.assign(1, static_cast<std::int32_t>(start));
        while (!open.empty())
        {
            const std::int32_t here = open.back();
            open.pop_back();
            for (const std::size_t t : ties_at[static_cast<std::size_t>(here)])
            {
                if (is_taken[t]) { continue; }
                is_taken[t] = true;
                const std::int32_t there = ties[t].a == here ? ties[t].b : ties[t].a;
                const bool closes = is_reached[static_cast<std::size_t>(there)];
                (closes ? tree.closing : tree.steps).push_back({here, there, ties[t].length});
                if (closes) { continue; }
                is_reached[static_cast<std::size_t>(there)] = true;
                open.push_back(there);
            }
        }
    }
    return tree;
}

} // namespace

std::vector<Tie> ties_of(const Topology& topology, const MoleculeType& type)
{
    std::vector<Tie> ties;
    for (const InteractionKind kind : {InteractionKind::HarmonicBond, InteractionKind::G96Bond, InteractionKind::MorseBond,
                                       InteractionKind::CubicBond, InteractionKind::FeneBond})
    {
        for (const Interaction& bond : type.of(kind))
        {
            const double length = topology.parameters_of(kind)[static_cast<std::size_t>(bond.parameters)][0];
            ties.push_back({bond.atoms[0], bond.atoms[1], length});
        }
    }
    for (const Constraint& c : type.constraints) { ties.push_back({c.a, c.b, c.length}); }
    for (const Settle& s : type.settles)
    {
        for (const std::int32_t hydrogen : {s.hydrogen_a, s.hydrogen_b}) { ties.push_back({s.oxygen, hydrogen, s.oh}); }
    }
    return ties;
}

bool is_tied_to_image(const Topology& topology, const MoleculeBlock& block, const std::vector<Vec3<double>>& x,
                      const Box<double>& box)
{
    const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
    const std::size_t atoms = type.atoms.size();
    const TieTree tree = walk(ties_of(topology, type), atoms);
    double length = 0;
    for (const std::vector<Tie>* part : {&tree.steps, &tree.closing})
    {
        for (const Tie& tie : *part) { length += tie.length; }
    }
    constexpr double stretched = 2; // largest factor by which a tie is assumed to be stretched
    const double shortest_edge = box.least_height();
    if (tree.closing.empty() || stretched * length < shortest_edge) { return false; }

    std::vector<Vec3<double>> place(atoms); // places of the atoms, relative to the first atom of the walk
    for (std::int64_t copy = 0; copy < block.count; ++copy)
    {
        const std::size_t first = static_cast<std::size_t>(block.first_atom) + static_cast<std::size_t>(copy) * atoms;
        const auto vector_of = [&](const Tie& tie) {
            return box.image(x[first + static_cast<std::size_t>(tie.b)] - x[first + static_cast<std::size_t>(tie.a)]);
        };
        for (const Tie& tie : tree.steps)
        {
            place[static_cast<std::size_t>(tie.b)] = place[static_cast<std::size_t>(tie.a)] + vector_of(tie);
        }
        const auto leads_to_image = [&](const Tie& tie) {
            const Vec3<double> off =
                place[static_cast<std::size_t>(tie.a)] + vector_of(tie) - place[static_cast<std::size_t>(tie.b)];
            return norm(off) > 0.5 * shortest_edge; // `off` is either zero or at least one edge
        };
        if (std::ranges::any_of(tree.closing, leads_to_image)) { return true; }
    }
    return false;
}

} // namespace parhelion
