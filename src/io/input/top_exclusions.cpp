// SPDX-License-Identifier: Apache-2.0
// Generates exclusions from the bond graph by a breadth-first search of a few steps
// from every atom. Time and memory are proportional to the number of exclusions.
#include "io/input/top_molecule.hpp"

#include <algorithm>
#include <utility>

namespace parhelion {

namespace {

using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;

// A bond graph. The neighbours of atom a are list[start[a]] to list[start[a + 1] - 1].
struct Graph
{
    std::vector<std::size_t> start;
    std::vector<std::int32_t> list;
};

Graph graph_of(const Pairs& edges, std::size_t atoms)
{
    Graph graph{std::vector<std::size_t>(atoms + 1), std::vector<std::int32_t>(2 * edges.size())};
    for (const auto& [a, b] : edges)
    {
        ++graph.start[static_cast<std::size_t>(a) + 1], ++graph.start[static_cast<std::size_t>(b) + 1];
    }
    for (std::size_t i = 0; i < atoms; ++i) { graph.start[i + 1] += graph.start[i]; }
    std::vector<std::size_t> next(graph.start.begin(), graph.start.end() - 1);
    for (const auto& [a, b] : edges)
    {
        graph.list[next[static_cast<std::size_t>(a)]++] = b;
        graph.list[next[static_cast<std::size_t>(b)]++] = a;
    }
    return graph;
}

} // namespace

bool generate_exclusions(MoleculeType& molecule, const Pairs& bonded, int bonds, const Pairs& extra, std::size_t most)
{
    const std::size_t atoms = molecule.atoms.size();
    const Graph bond = graph_of(bonded, atoms), more = graph_of(extra, atoms);
    std::vector<std::int32_t> seen(atoms, -1), reached; // seen[b] == a: b is already in a's list
    molecule.exclusion_start.assign(1, 0);
    molecule.excluded.clear();
    const auto each_neighbour = [](const Graph& graph, std::int32_t a, const auto& visit) {
        for (std::size_t i = graph.start[static_cast<std::size_t>(a)]; i < graph.start[static_cast<std::size_t>(a) + 1]; ++i)
        {
            visit(graph.list[i]);
        }
    };
    for (std::int32_t a = 0; a < static_cast<std::int32_t>(atoms); ++a)
    {
        const auto reach = [&](std::int32_t b) {
            if (std::exchange(seen[static_cast<std::size_t>(b)], a) != a) { reached.push_back(b); }
        };
        reached.clear();
        reach(a);
        for (std::size_t step = 0, begin = 0; step < static_cast<std::size_t>(bonds) && begin < reached.size(); ++step)
        {
            const std::size_t end = reached.size();
            for (; begin < end; ++begin) { each_neighbour(bond, reached[begin], reach); }
        }
        each_neighbour(more, a, reach);
        std::sort(reached.begin() + 1, reached.end());
        molecule.excluded.insert(molecule.excluded.end(), reached.begin() + 1, reached.end());
        if (molecule.excluded.size() > most) { return false; }
        molecule.exclusion_start.push_back(static_cast<std::int32_t>(molecule.excluded.size()));
    }
    return true;
}

} // namespace parhelion
