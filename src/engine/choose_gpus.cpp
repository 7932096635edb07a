// SPDX-License-Identifier: Apache-2.0
#include "engine/choose_gpus.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace parhelion {

namespace {

// us, of H200 joined by NVLink.
constexpr double fixed_time = 14.2, time_of_1000_atoms = 0.894;
constexpr double exchange_of_1000_atoms = 0.01;
struct Exchange
{
    double time, per_doubling; // of GPUs; more than four have not been measured
};
constexpr std::array<Exchange, halo_method_names.size()> exchange_by{{{70, 25}, {43, 20}, {14, 0.5}, {7.1, 0.5}}};

// Whoever predicts a gain smaller than this predicts none.
constexpr double least_gain = 0.03;

bool is_candidate(int gpus, int there) { return gpus == there || (gpus & (gpus - 1)) == 0; }

// The most GPUs, up to `most`, that the box has cells for; `all` is for the remark.
GpuChoice most_that_fit(int most, int all, const Vec3<double>& box, const GridCriteria& criteria)
{
    for (int gpus = most; gpus > 1; --gpus)
    {
        const std::optional<CellGrid> grid = find_grid(gpus, box, criteria);
        if (!grid) { continue; }
        return {gpus, *grid, gpus == most ? "" : fmt::format("{} of {}: the box is too short to be divided further", gpus, all)};
    }
    return {1, {}, most == 1 ? "" : fmt::format("1 of {}: the box is too short to be divided", all)};
}

// The fewest of those that make a step about as fast as it gets.
int fastest(int there, std::int64_t atoms, HaloMethod halo)
{
    double shortest = predicted_step(atoms, 1, halo);
    for (int gpus = 2; gpus <= there; ++gpus)
    {
        if (is_candidate(gpus, there)) { shortest = std::min(shortest, predicted_step(atoms, gpus, halo)); }
    }
    int gpus = 1;
    while (!is_candidate(gpus, there) || predicted_step(atoms, gpus, halo) > (1 + least_gain) * shortest) { ++gpus; }
    return gpus;
}

} // namespace

double predicted_step(std::int64_t atoms, int gpus, HaloMethod halo)
{
    const double thousands = 1e-3 * static_cast<double>(atoms);
    const double alone = fixed_time + time_of_1000_atoms * thousands / gpus;
    const Exchange& exchange = exchange_by[static_cast<std::size_t>(halo)];
    return gpus == 1 ? alone
                     : alone + exchange.time + exchange.per_doubling * std::log2(gpus) + exchange_of_1000_atoms * thousands;
}

GpuChoice choose_gpus(const SimulationOptions& options, int there, std::int64_t atoms, const Vec3<double>& box,
                      const GridCriteria& criteria)
{
    PARHELION_EXPECTS(there >= 1);
    if (options.gpus > there)
    {
        throw InputError("E004", {}, fmt::format("--gpus {}, but this program can use {} here.", options.gpus, there));
    }
    const int most = options.gpus > 0 ? options.gpus : there;
    if (const int ranks = options.ranks_asked_for(); ranks > 0)
    {
        const CellGrid grid = options.grid[0] != 0 ? CellGrid{options.grid} : choose_grid(ranks, box, criteria);
        return {std::min(most, ranks), grid,
                options.gpus > ranks ? fmt::format("{} of {}: there are no more ranks", ranks, options.gpus) : ""};
    }
    if (options.gpus > 0) { return most_that_fit(most, most, box, criteria); }
    const int wanted = fastest(there, atoms, options.halo);
    GpuChoice choice = most_that_fit(wanted, there, box, criteria);
    if (choice.gpus == wanted && wanted < there)
    {
        choice.remark = fmt::format("{} of {}: more would not help at {} atoms", wanted, there, atoms);
    }
    return choice;
}

} // namespace parhelion
