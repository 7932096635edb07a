// SPDX-License-Identifier: Apache-2.0
// The Laplace equation on a rectangle by Jacobi's method, over a grid of ranks, each a thread with a square of cells. In an
// iteration a rank updates the cells at its edges first and marks them ready piece by piece, so that they travel while it updates
// the others. How much changed is added up by a partitioned all-reduce, which travels while the neighbours' cells arrive.
//
// jacobi COLUMNS ROWS [CELLS [ITERATIONS]]: the grid of ranks, the edge of a square. Checks the result: the same bits as by one
// loop over all cells, and close to x^2 - y^2, which solves the equation between cells exactly and is given at the boundary.
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"
#include "comm/partitioned/collectives.hpp"
#include "field.hpp"

#include <chrono>
#include <cstdio>
#include <vector>

using namespace parhelion;
using namespace jacobi;

namespace {

// What a rank exchanges with the neighbour at one of its edges.
struct Edge
{
    int dx, dy, cells;
    std::vector<double> out;
    double* in;
    SendRequest send;
    ReceiveRequest receive;

    // The kth cell along the edge: of the rank's own, or of the frame beyond.
    double& own(Field& f, int k) const { return f.at(dx < 0 ? 1 : dx > 0 ? f.nx : k, dy < 0 ? 1 : dy > 0 ? f.ny : k); }
    double& beyond(Field& f, int k) const { return f.at(dx < 0 ? 0 : dx > 0 ? f.nx + 1 : k, dy < 0 ? 0 : dy > 0 ? f.ny + 1 : k); }
};

void leave(Edge& edge, Field& next)
{
    const int piece = edge.cells / pieces;
    for (int p = 0; p < pieces; ++p)
    {
        for (int k = p * piece; k < (p + 1) * piece; ++k) { edge.out[static_cast<std::size_t>(k)] = edge.own(next, k + 1); }
        edge.send.pready(p);
    }
}

void arrive(Edge& edge, Field& next)
{
    edge.receive.wait();
    for (int k = 0; k < edge.cells; ++k) { edge.beyond(next, k + 1) = edge.in[k]; }
}

std::vector<Edge> open_edges(Partitioned& partitioned, const Grid& grid, int rank)
{
    std::vector<Edge> edges;
    constexpr int ways[][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    for (int w = 0; w < 4; ++w)
    {
        const int peer = grid.neighbour(rank, ways[w][0], ways[w][1]);
        if (peer < 0) { continue; }
        const auto n = static_cast<std::size_t>(grid.cells);
        Edge edge{ways[w][0], ways[w][1], grid.cells, std::vector<double>(n), nullptr, {}, {}};
        const Partitioning parts{pieces, n / pieces * sizeof(double)};
        const std::span<std::byte> memory = partitioned.allocate(n * sizeof(double));
        edge.in = reinterpret_cast<double*>(memory.data());
        // The tag is the way that a message goes: what comes from there goes the other way.
        edge.send = partitioned.psend_init(reinterpret_cast<const std::byte*>(edge.out.data()), parts, {peer, w, {}});
        edge.receive = partitioned.precv_init(memory.data(), parts, {peer, w ^ 1, {}});
        edges.push_back(std::move(edge));
    }
    return edges;
}

// Returns the change in the last iteration.
double run_rank(Communicator& comm, const Grid& grid, Field& field)
{
    Partitioned partitioned(comm);
    const int n = grid.cells;
    Field now = field, next = field;
    std::vector<Edge> edges = open_edges(partitioned, grid, comm.rank());
    double change = 0;
    CollectiveRequest sum = pallreduce_init(partitioned, &change, &change, {ElementType::Double, 1, 1}, Reduction::Sum);
    for (int i = 0; i < grid.iterations; ++i)
    {
        comm.set_tag(i);
        for (Edge& edge : edges) { edge.receive.start(), edge.send.start(); }
        change = update(now, next, 1, 1, 1, n) + update(now, next, n, n, 1, n);
        change += update(now, next, 2, n - 1, 1, 1) + update(now, next, 2, n - 1, n, n);
        for (Edge& edge : edges) { leave(edge, next); }
        change += update(now, next, 2, n - 1, 2, n - 1);
        sum.start();
        sum.pready(0);
        for (Edge& edge : edges) { arrive(edge, next); }
        for (Edge& edge : edges) { edge.send.wait(); }
        sum.wait();
        std::swap(now, next);
    }
    field = std::move(now);
    return change;
}

} // namespace

int main(int argc, char** argv)
{
    const Grid grid = grid_of(argc, argv);
    try
    {
        World world(thread_network(grid.ranks()));
        std::vector<Field> fields;
        for (int rank = 0; rank < grid.ranks(); ++rank) { fields.emplace_back(grid, rank); }
        double change = 0;
        const auto begin = std::chrono::steady_clock::now();
        run_ranks(world, [&](Communicator& comm) {
            const double of_all = run_rank(comm, grid, fields[static_cast<std::size_t>(comm.rank())]);
            if (comm.rank() == 0) { change = of_all; }
        });
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        std::printf("%d x %d ranks of %d x %d cells: %.1f us an iteration\n", grid.columns, grid.rows, grid.cells, grid.cells,
                    took.count() / grid.iterations);
        check(fields, change, grid);
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "jacobi: %s\n", error.what());
        return 1;
    }
    return 0;
}
