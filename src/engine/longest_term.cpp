// SPDX-License-Identifier: Apache-2.0
#include "engine/longest_term.hpp"

#include <cmath>

namespace parhelion {

namespace {

// Replaces `longest` by this term if two atoms of the term are farther apart.
void consider(const Interaction& term, int atoms, std::int64_t first, const std::vector<Vec3<double>>& x, const Box<double>& box,
              LongestTerm& longest)
{
    for (int k = 1; k < atoms; ++k)
    {
        for (int l = 0; l < k; ++l)
        {
            const std::int64_t a = first + term.atoms[static_cast<std::size_t>(l)],
                               b = first + term.atoms[static_cast<std::size_t>(k)];
            const Vec3<double> difference = x[static_cast<std::size_t>(b)] - x[static_cast<std::size_t>(a)];
            if (const double length = norm(box.image(difference)); length > longest.length) { longest = {length, a, b}; }
        }
    }
}

} // namespace

LongestTerm longest_term(const Topology& topology, const std::vector<Vec3<double>>& x, const Box<double>& box)
{
    LongestTerm longest;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        for (int kind = 0; kind < interaction_kinds; ++kind)
        {
            for (const Interaction& term : type.of(static_cast<InteractionKind>(kind)))
            {
                for (std::int64_t copy = 0; copy < block.count; ++copy)
                {
                    consider(term, arity(static_cast<InteractionKind>(kind)),
                             block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size()), x, box, longest);
                }
            }
        }
    }
    return longest;
}

} // namespace parhelion
