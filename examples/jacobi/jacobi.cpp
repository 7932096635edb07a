// SPDX-License-Identifier: Apache-2.0
// The Laplace equation on a rectangle by Jacobi's method, over a grid of ranks, each a thread with a square of cells. In an
// iteration a rank updates the cells at its edges first and marks them ready piece by piece, so that they travel while it updates
// the others. How much changed is added up by a partitioned all-reduce, which travels while the neighbours' cells arrive.
//
// jacobi COLUMNS ROWS [CELLS [ITERATIONS]]: the grid of ranks, the edge of a square. Checks the result: the same bits as by one
// loop over all cells, and close to x^2 - y^2, which solves the equation between cells exactly and is given at the boundary.
#include "comm/partitioned/collectives.hpp"
#include "comm/run_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

using namespace parhelion;

namespace {

constexpr int pieces = 4; // of an edge
constexpr double spacing = 1.0 / 64;

double solution(int x, int y) { return spacing * spacing * (static_cast<double>(x) * x - static_cast<double>(y) * y); }

// nx by ny cells and a frame around them, which is given at first and where there is no neighbour. Cells count from 1.
struct Field
{
    int nx, ny;
    std::vector<double> u;

    // The field's cell (0, 0) is cell (x0, y0) of the whole, whose cells are (1, 1) to (all_x, all_y).
    Field(int nx_, int ny_, int x0, int y0, int all_x, int all_y)
        : nx(nx_), ny(ny_), u(static_cast<std::size_t>(nx + 2) * static_cast<std::size_t>(ny + 2))
    {
        for (int y = 0; y <= ny + 1; ++y)
        {
            for (int x = 0; x <= nx + 1; ++x)
            {
                const bool is_inside = x0 + x >= 1 && x0 + x <= all_x && y0 + y >= 1 && y0 + y <= all_y;
                at(x, y) = is_inside ? 0 : solution(x0 + x, y0 + y);
            }
        }
    }
    double& at(int x, int y)
    {
        return u[static_cast<std::size_t>(y) * static_cast<std::size_t>(nx + 2) + static_cast<std::size_t>(x)];
    }
};

// Updates cells of a range, ends included; the sum of the squares of what changed.
double update(Field& now, Field& next, int x_begin, int x_end, int y_begin, int y_end)
{
    double change = 0;
    for (int y = y_begin; y <= y_end; ++y)
    {
        for (int x = x_begin; x <= x_end; ++x)
        {
            next.at(x, y) = 0.25 * (now.at(x - 1, y) + now.at(x + 1, y) + now.at(x, y - 1) + now.at(x, y + 1));
            const double difference = next.at(x, y) - now.at(x, y);
            change += difference * difference;
        }
    }
    return change;
}

struct Grid
{
    int columns, rows, cells, iterations;
    int neighbour(int rank, int dx, int dy) const // or -1
    {
        const int x = rank % columns + dx, y = rank / columns + dy;
        return x >= 0 && x < columns && y >= 0 && y < rows ? y * columns + x : -1;
    }
};

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

// The cells of all ranks, square by square, and the change in the last iteration.
struct Result
{
    std::vector<double> cells;
    double change;
};

Result run_rank(Communicator& comm, const Grid& grid)
{
    Partitioned partitioned(comm);
    const int n = grid.cells, x0 = comm.rank() % grid.columns * n, y0 = comm.rank() / grid.columns * n;
    Field now(n, n, x0, y0, grid.columns * n, grid.rows * n), next = now;
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
    std::vector<double> own;
    for (int y = 1; y <= n; ++y)
    {
        for (int x = 1; x <= n; ++x) { own.push_back(now.at(x, y)); }
    }
    Result result{std::vector<double>(own.size() * static_cast<std::size_t>(comm.ranks())), change};
    CollectiveRequest gather =
        pallgather_init(partitioned, own.data(), result.cells.data(), {ElementType::Double, 1, own.size()});
    gather.start();
    gather.pready(0);
    gather.wait();
    return result;
}

void check(const Result& result, const Grid& grid)
{
    const int n = grid.cells, nx = grid.columns * n, ny = grid.rows * n;
    Field now(nx, ny, 0, 0, nx, ny), next = now;
    double change = 0, worst = 0;
    for (int i = 0; i < grid.iterations; ++i)
    {
        change = update(now, next, 1, nx, 1, ny);
        std::swap(now, next);
    }
    std::size_t k = 0;
    for (int rank = 0; rank < grid.columns * grid.rows; ++rank)
    {
        for (int y = 1; y <= n; ++y)
        {
            for (int x = 1; x <= n; ++x, ++k)
            {
                const int all_x = rank % grid.columns * n + x, all_y = rank / grid.columns * n + y;
                if (result.cells[k] != now.at(all_x, all_y))
                {
                    throw std::runtime_error("not the bits of one loop over all cells");
                }
                worst = std::max(worst, std::abs(result.cells[k] - solution(all_x, all_y)));
            }
        }
    }
    std::printf("change in the last iteration %.3g, distance from the solution %.3g\n", std::sqrt(result.change), worst);
    // Sums of another order: each of so many terms is rounded once.
    if (std::abs(result.change - change) > 1e-12 * change) { throw std::runtime_error("the change is not that of one loop"); }
    if (worst > 1e-6) { throw std::runtime_error("far from the solution: more iterations?"); }
}

} // namespace

int main(int argc, char** argv)
{
    const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
    const Grid grid{number(1, 2), number(2, 2), number(3, 8), number(4, 1500)};
    if (argc > 5 || grid.columns < 1 || grid.rows < 1 || grid.cells < pieces || grid.cells % pieces != 0 || grid.iterations < 1)
    {
        std::fprintf(stderr, "usage: jacobi COLUMNS ROWS [CELLS [ITERATIONS]]; CELLS is a multiple of %d\n", pieces);
        return 2;
    }
    try
    {
        World world(thread_network(grid.columns * grid.rows));
        const auto begin = std::chrono::steady_clock::now();
        Result result;
        run_ranks(world, [&](Communicator& comm) {
            Result of_rank = run_rank(comm, grid);
            if (comm.rank() == 0) { result = std::move(of_rank); }
        });
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        std::printf("%d x %d ranks of %d x %d cells: %.1f us an iteration\n", grid.columns, grid.rows, grid.cells, grid.cells,
                    took.count() / grid.iterations);
        check(result, grid);
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "jacobi: %s\n", error.what());
        return 1;
    }
    return 0;
}
