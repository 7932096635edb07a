// SPDX-License-Identifier: Apache-2.0
#include "interactions/bonded/cmap/cmap.hpp"

#include "base/error.hpp"

#include <cmath>

namespace parhelion {

namespace {

// Returns the slopes per step, at all nodes, of the natural cubic spline through y. Thomas' algorithm finds
// the second derivatives m, which are 0 at the ends: m[k-1] + 4 m[k] + m[k+1] = 6 (y[k-1] - 2 y[k] + y[k+1]).
std::vector<double> spline_slopes(const std::vector<double>& y)
{
    const std::size_t last = y.size() - 1;
    std::vector<double> m(y.size()), upper(y.size()), slopes(y.size());
    for (std::size_t k = 1; k < last; ++k)
    {
        const double pivot = 1 / (4 - upper[k - 1]);
        upper[k] = pivot;
        m[k] = (6 * (y[k - 1] - 2 * y[k] + y[k + 1]) - m[k - 1]) * pivot;
    }
    for (std::size_t k = last; k-- > 1;) { m[k] -= upper[k] * m[k + 1]; }
    for (std::size_t k = 0; k < last; ++k) { slopes[k] = y[k + 1] - y[k] - (2 * m[k] + m[k + 1]) / 6; }
    slopes[last] = y[last] - y[last - 1] + (m[last - 1] + 2 * m[last]) / 6;
    return slopes;
}

// Returns the slopes per step at the nodes of one period. value(k) is the value at node k.
template <class Value>
std::vector<double> slopes_of_period(std::size_t n, Value&& value)
{
    std::vector<double> two_periods;
    const std::size_t before = n / 2;
    for (std::size_t k = 0; k < 2 * n; ++k) { two_periods.push_back(value((k + n - before) % n)); }
    const std::vector<double> slopes = spline_slopes(two_periods);
    return {slopes.begin() + static_cast<std::ptrdiff_t>(before), slopes.begin() + static_cast<std::ptrdiff_t>(before + n)};
}

} // namespace

int cmap_nodes(std::size_t values)
{
    const auto n = std::lround(std::sqrt(static_cast<double>(values)));
    PARHELION_EXPECTS(n > 1 && static_cast<std::size_t>(n * n) == values);
    return static_cast<int>(n);
}

std::vector<double> cmap_table(std::span<const double> grid)
{
    const auto n = static_cast<std::size_t>(cmap_nodes(grid.size()));
    std::vector<double> table(4 * n * n);
    const auto at = [&](std::size_t i, std::size_t j, std::size_t what) -> double& { return table[4 * (i * n + j) + what]; };
    for (std::size_t i = 0; i < n; ++i)
    {
        const std::vector<double> dpsi = slopes_of_period(n, [&](std::size_t j) { return grid[i * n + j]; });
        for (std::size_t j = 0; j < n; ++j) { at(i, j, 0) = grid[i * n + j], at(i, j, 2) = dpsi[j]; }
    }
    for (std::size_t j = 0; j < n; ++j)
    {
        const std::vector<double> dphi = slopes_of_period(n, [&](std::size_t i) { return at(i, j, 0); });
        const std::vector<double> both = slopes_of_period(n, [&](std::size_t i) { return at(i, j, 2); });
        for (std::size_t i = 0; i < n; ++i) { at(i, j, 1) = dphi[i], at(i, j, 3) = both[i]; }
    }
    return table;
}

} // namespace parhelion
