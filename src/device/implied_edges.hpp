// SPDX-License-Identifier: Apache-2.0
// Finds redundant edges in a graph of dependent work: edges between two nodes that a longer path
// also joins. Such an edge is correct, but a node that waits for many other nodes starts later.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace parhelion {

struct GraphEdge
{
    std::size_t from, to; // nodes, numbered from 0
};

// Returns the indices of redundant edges in `edges`. The remaining edges order the nodes in the same way. Precondition:
// the graph has no cycles, and no edge twice. Cost: one operation on a 64-bit word per remaining edge and 64 nodes.
std::vector<std::size_t> implied_edges(std::size_t nodes, std::span<const GraphEdge> edges);

} // namespace parhelion
