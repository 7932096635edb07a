// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/mesh_size.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "model/mesh_limits.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace parhelion {

namespace {

constexpr int small_sizes[] = {6, 8, 10, 12, 14, 16, 20, 24, 25, 28, 32, 36, 40, 42, 44};
// The sizes of larger grids are multiples of 4: one of `bases` times a power of 2.
constexpr int bases[] = {48, 50, 52, 54, 56, 60, 64, 70, 72, 75, 80, 81, 84};

int good_size(int least)
{
    for (const int size : small_sizes)
    {
        if (size >= least) { return size; }
    }
    int factor = 1;
    while (84 * factor < least) { factor *= 2; }
    for (const int base : bases)
    {
        const int size = factor * base;
        if (size >= least && size % 4 == 0 && size != 140) { return size; }
    }
    throw ContractError("no grid size is large enough"); // 84 * factor is large enough
}

} // namespace

std::array<int, 3> mesh_size(const RunParameters& run, const Box<double>& box)
{
    std::array<int, 3> size = {run.mesh_nx, run.mesh_ny, run.mesh_nz};
    const Vec3<double> edges = box.edge_lengths();
    for (std::size_t d = 0; d < 3; ++d)
    {
        if (size[d] > 0) { continue; }
        const double least = edges[static_cast<int>(d)] / run.mesh_spacing + 0.999;
        PARHELION_EXPECTS(least < most_mesh_points + 1);
        size[d] = good_size(std::max(static_cast<int>(least), 2 * (run.pme_order - 1)));
    }
    return size;
}

std::vector<double> spline_moduli(int order, int points)
{
    // Computes M_order at 1 ... order - 1, by M_k(u) = (u M_(k-1)(u) + (k - u) M_(k-1)(u - 1)) / (k - 1).
    std::vector<double> spline(static_cast<std::size_t>(order) + 1, 0);
    spline[1] = 1; // M_2 at 1
    for (int k = 3; k <= order; ++k)
    {
        for (int u = k - 1; u >= 1; --u)
        {
            const auto i = static_cast<std::size_t>(u);
            spline[i] = (u * spline[i] + (k - u) * spline[i - 1]) / (k - 1);
        }
    }
    std::vector<double> moduli(static_cast<std::size_t>(points));
    for (int m = 0; m < points; ++m)
    {
        std::complex<double> sum = 0;
        for (int j = 0; j <= order - 2; ++j)
        {
            sum += spline[static_cast<std::size_t>(j + 1)] *
                   std::polar(1.0, 2 * units::pi * static_cast<double>((m * j) % points) / points);
        }
        moduli[static_cast<std::size_t>(m)] = std::norm(sum);
    }
    if (order % 2 == 1 && points % 2 == 0)
    {
        const auto half = static_cast<std::size_t>(points / 2);
        moduli[half] = 0.5 * (moduli[half - 1] + moduli[half + 1]);
    }
    return moduli;
}

} // namespace parhelion
