// SPDX-License-Identifier: Apache-2.0
// The Laplace equation between cells of a rectangle, whose boundary is given: what Jacobi's method on threads and on GPUs has in
// common. x^2 - y^2 solves it exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

namespace jacobi {

inline constexpr int pieces = 4; // of an edge
inline constexpr double spacing = 1.0 / 64;

inline double solution(int x, int y) { return spacing * spacing * (static_cast<double>(x) * x - static_cast<double>(y) * y); }

// The ranks are a grid; each has a square of cells.
struct Grid
{
    int columns, rows, cells, iterations;
    int ranks() const { return columns * rows; }
    int neighbour(int rank, int dx, int dy) const // or -1
    {
        const int x = rank % columns + dx, y = rank / columns + dy;
        return x >= 0 && x < columns && y >= 0 && y < rows ? y * columns + x : -1;
    }
};

// From COLUMNS ROWS [CELLS [ITERATIONS]]. Ends the program if they make no sense.
inline Grid grid_of(int argc, char** argv)
{
    const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
    const Grid grid{number(1, 2), number(2, 2), number(3, 8), number(4, 1500)};
    if (argc <= 5 && grid.columns >= 1 && grid.rows >= 1 && grid.cells >= pieces && grid.cells % pieces == 0 &&
        grid.iterations >= 1)
    {
        return grid;
    }
    std::fprintf(stderr, "usage: %s COLUMNS ROWS [CELLS [ITERATIONS]]; CELLS is a multiple of %d\n", argv[0], pieces);
    std::exit(2);
}

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
    // Makes the field of a rank.
    Field(const Grid& grid, int rank)
        : Field(grid.cells, grid.cells, rank % grid.columns * grid.cells, rank / grid.columns * grid.cells,
                grid.columns * grid.cells, grid.rows * grid.cells)
    {
    }
    double& at(int x, int y)
    {
        return u[static_cast<std::size_t>(y) * static_cast<std::size_t>(nx + 2) + static_cast<std::size_t>(x)];
    }
};

// Updates cells of a range, ends included; the sum of the squares of what changed.
inline double update(Field& now, Field& next, int x_begin, int x_end, int y_begin, int y_end)
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

// The fields of all ranks, and the sum of the squares of what changed in the last iteration. Throws unless the cells have the
// bits of one loop over all of them, and are close to the solution.
inline void check(std::vector<Field>& fields, double change, const Grid& grid)
{
    const int n = grid.cells, nx = grid.columns * n, ny = grid.rows * n;
    Field now(nx, ny, 0, 0, nx, ny), next = now;
    double change_of_all = 0, worst = 0;
    for (int i = 0; i < grid.iterations; ++i)
    {
        change_of_all = update(now, next, 1, nx, 1, ny);
        std::swap(now, next);
    }
    for (int rank = 0; rank < grid.ranks(); ++rank)
    {
        for (int y = 1; y <= n; ++y)
        {
            for (int x = 1; x <= n; ++x)
            {
                const int all_x = rank % grid.columns * n + x, all_y = rank / grid.columns * n + y;
                const double value = fields[static_cast<std::size_t>(rank)].at(x, y);
                if (value != now.at(all_x, all_y)) { throw std::runtime_error("not the bits of one loop over all cells"); }
                worst = std::max(worst, std::abs(value - solution(all_x, all_y)));
            }
        }
    }
    std::printf("change in the last iteration %.3g, distance from the solution %.3g\n", std::sqrt(change), worst);
    // Sums of another order: each of so many terms is rounded once.
    if (std::abs(change - change_of_all) > 1e-12 * change_of_all)
    {
        throw std::runtime_error("the change is not that of one loop");
    }
    if (worst > 1e-6) { throw std::runtime_error("far from the solution: more iterations?"); }
}

} // namespace jacobi
