// SPDX-License-Identifier: Apache-2.0
// Which edges of a graph of dependent work say nothing new: those between nodes that a longer path joins as well. They are no
// mistake, but a node that waits for many others begins later.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace parhelion {

struct GraphEdge
{
    std::size_t from, to; // nodes, numbered from 0
};

// Positions in `edges` of those that others imply; what is left joins the same nodes. The graph has no cycles, and no edge twice.
// Cost: nodes times edges that stay, in words of 64 nodes.
std::vector<std::size_t> implied_edges(std::size_t nodes, std::span<const GraphEdge> edges);

} // namespace parhelion
