// SPDX-License-Identifier: Apache-2.0
#include "io/input/excluded_pairs.hpp"

#include "model/ties.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace parhelion {

namespace {

// Calls look(a, b) for excluded pairs a < b of the type until it returns true. Returns whether it returned true.
template <class Look>
bool any_excluded_pair(const MoleculeType& type, Look&& look)
{
    const std::size_t atoms = type.exclusion_start.empty() ? 0 : type.atoms.size();
    for (std::size_t a = 0; a < atoms; ++a)
    {
        for (std::int32_t e = type.exclusion_start[a]; e < type.exclusion_start[a + 1]; ++e)
        {
            const std::int32_t b = type.excluded[static_cast<std::size_t>(e)];
            if (b > static_cast<std::int32_t>(a) && look(static_cast<std::int32_t>(a), b)) { return true; }
        }
    }
    return false;
}

struct Neighbour
{
    std::int32_t other;
    double length; // nm
};
using Neighbours = std::vector<std::vector<Neighbour>>; // neighbours of each atom

Neighbours neighbours_of(const Topology& topology, const MoleculeType& type)
{
    Neighbours neighbours(type.atoms.size());
    for (const Tie& tie : ties_of(topology, type))
    {
        neighbours[static_cast<std::size_t>(tie.a)].push_back({tie.b, tie.length});
        neighbours[static_cast<std::size_t>(tie.b)].push_back({tie.a, tie.length});
    }
    return neighbours;
}

// Returns the distances (nm) between `start` and other atoms that ties allow, up to `most` (Dijkstra).
std::map<std::int32_t, double> reach(const Neighbours& neighbours, std::int32_t start, double most)
{
    std::map<std::int32_t, double> reached{{start, 0}};
    std::multimap<double, std::int32_t> next{{0, start}};
    while (!next.empty())
    {
        const auto [length, atom] = *next.begin();
        next.erase(next.begin());
        if (length > reached.at(atom)) { continue; }
        for (const Neighbour& tie : neighbours[static_cast<std::size_t>(atom)])
        {
            const double there = length + tie.length;
            if (there > most) { continue; }
            const auto [found, is_new] = reached.try_emplace(tie.other, there);
            if (!is_new && found->second <= there) { continue; }
            found->second = there;
            next.emplace(there, tie.other);
        }
    }
    return reached;
}

} // namespace

ExcludedPair longest_excluded_pair(const Topology& topology, const std::vector<Vec3<double>>& x, const Box<double>& box,
                                   const std::vector<bool>& of_types)
{
    ExcludedPair longest;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto index = static_cast<std::size_t>(block.type);
        if (!of_types.empty() && !of_types[index]) { continue; }
        const MoleculeType& type = topology.molecule_types[index];
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
            any_excluded_pair(type, [&](std::int32_t a, std::int32_t b) {
                const Vec3<double> d = x[static_cast<std::size_t>(first + a)] - x[static_cast<std::size_t>(first + b)];
                if (const double r = norm(box.image(d)); r > longest.distance) { longest = {r, first + a, first + b}; }
                return false;
            });
        }
    }
    return longest;
}

std::vector<bool> types_with_loose_exclusions(const Topology& topology, double cutoff)
{
    constexpr double stretch = 1.2;
    std::vector<bool> loose;
    for (const MoleculeType& type : topology.molecule_types)
    {
        const Neighbours neighbours = neighbours_of(topology, type);
        std::map<std::int32_t, double> reached;
        std::int32_t of = -1;
        loose.push_back(any_excluded_pair(type, [&](std::int32_t a, std::int32_t b) {
            if (std::exchange(of, a) != a) { reached = reach(neighbours, a, cutoff / stretch); }
            return !reached.contains(b);
        }));
    }
    return loose;
}

} // namespace parhelion
