// SPDX-License-Identifier: Apache-2.0
#include "device/implied_edges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace parhelion {
namespace {

using Edges = std::vector<GraphEdge>;

Edges without(const Edges& edges, std::vector<std::size_t> dropped)
{
    std::ranges::sort(dropped);
    Edges left;
    for (std::size_t e = 0; e < edges.size(); ++e)
    {
        if (!std::ranges::binary_search(dropped, e)) { left.push_back(edges[e]); }
    }
    return left;
}

std::set<std::pair<std::size_t, std::size_t>> pairs_joined(std::size_t nodes, const Edges& edges)
{
    std::vector<std::vector<char>> joined(nodes, std::vector<char>(nodes));
    for (const GraphEdge& e : edges) { joined[e.from][e.to] = 1; }
    for (std::size_t k = 0; k < nodes; ++k)
    {
        for (std::size_t i = 0; i < nodes; ++i)
        {
            for (std::size_t j = 0; j < nodes; ++j) { joined[i][j] |= joined[i][k] & joined[k][j]; }
        }
    }
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0; i < nodes; ++i)
    {
        for (std::size_t j = 0; j < nodes; ++j)
        {
            if (joined[i][j] != 0) { pairs.insert({i, j}); }
        }
    }
    return pairs;
}

TEST(ImpliedEdges, are_none_in_a_chain_or_a_fork)
{
    EXPECT_TRUE(implied_edges(0, {}).empty());
    EXPECT_TRUE(implied_edges(3, Edges{{0, 1}, {1, 2}}).empty());
    EXPECT_TRUE(implied_edges(4, Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}}).empty());
}

TEST(ImpliedEdges, lead_where_a_longer_path_leads)
{
    EXPECT_EQ(implied_edges(3, Edges{{0, 2}, {0, 1}, {1, 2}}), std::vector<std::size_t>{0});
}

TEST(ImpliedEdges, leave_the_fewest_that_join_the_same_nodes)
{
    std::mt19937 engine(7);
    for (int trial = 0; trial < 200; ++trial)
    {
        const bool is_long = trial == 0; // and narrow: no edge leads far
        const std::size_t nodes = is_long ? 130 : 2 + engine() % 14;
        std::vector<std::size_t> name(nodes); // numbers say nothing of the order
        for (std::size_t n = 0; n < nodes; ++n) { name[n] = n; }
        std::ranges::shuffle(name, engine);
        Edges edges;
        for (std::size_t i = 0; i < nodes; ++i)
        {
            for (std::size_t j = i + 1; j < (is_long ? std::min(i + 4, nodes) : nodes); ++j)
            {
                if (engine() % 3 != 0) { edges.push_back({name[i], name[j]}); }
            }
        }
        std::ranges::shuffle(edges, engine);
        const Edges left = without(edges, implied_edges(nodes, edges));
        const auto pairs = pairs_joined(nodes, edges);
        EXPECT_EQ(pairs_joined(nodes, left), pairs);
        for (std::size_t e = 0; e < left.size(); ++e) { EXPECT_LT(pairs_joined(nodes, without(left, {e})).size(), pairs.size()); }
    }
}

} // namespace
} // namespace parhelion
