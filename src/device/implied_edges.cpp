// SPDX-License-Identifier: Apache-2.0
#include "device/implied_edges.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdint>

namespace parhelion {

namespace {

struct Successor
{
    std::size_t node, edge;
};

// Returns the nodes in topological order: every node comes after the nodes on which it depends.
std::vector<std::size_t> in_order(const std::vector<std::vector<Successor>>& successors)
{
    std::vector<std::size_t> open(successors.size()), order; // open: number of edges from nodes not yet in `order`
    for (const auto& of_node : successors)
    {
        for (const Successor& s : of_node) { ++open[s.node]; }
    }
    for (std::size_t node = 0; node < open.size(); ++node)
    {
        if (open[node] == 0) { order.push_back(node); }
    }
    for (std::size_t k = 0; k < order.size(); ++k)
    {
        for (const Successor& s : successors[order[k]])
        {
            if (--open[s.node] == 0) { order.push_back(s.node); }
        }
    }
    PARHELION_EXPECTS(order.size() == successors.size());
    return order;
}

} // namespace

std::vector<std::size_t> implied_edges(std::size_t nodes, std::span<const GraphEdge> edges)
{
    std::vector<std::vector<Successor>> successors(nodes);
    for (std::size_t e = 0; e < edges.size(); ++e) { successors[edges[e].from].push_back({edges[e].to, e}); }
    const std::vector<std::size_t> order = in_order(successors);
    std::vector<std::size_t> place(nodes);
    for (std::size_t k = 0; k < nodes; ++k) { place[order[k]] = k; }

    const std::size_t words = (nodes + 63) / 64;
    std::vector<std::uint64_t> reaches(nodes * words); // for each node: one bit per node that a path from it reaches
    std::vector<std::size_t> implied;
    for (auto node = order.rbegin(); node != order.rend(); ++node)
    {
        std::vector<Successor>& nearest_first = successors[*node];
        std::ranges::sort(nearest_first, {}, [&](const Successor& s) { return place[s.node]; });
        std::uint64_t* const reached = reaches.data() + *node * words;
        for (const Successor& s : nearest_first) // a node on a path to a successor precedes that successor in this order
        {
            const std::uint64_t bit = std::uint64_t{1} << s.node % 64;
            if ((reached[s.node / 64] & bit) != 0)
            {
                implied.push_back(s.edge);
                continue;
            }
            reached[s.node / 64] |= bit;
            for (std::size_t w = 0; w < words; ++w) { reached[w] |= reaches[s.node * words + w]; }
        }
    }
    return implied;
}

} // namespace parhelion
