// SPDX-License-Identifier: Apache-2.0
// Holds what tests of runs on several ranks on GPUs share: layouts of ranks on as many GPUs as there are, and a run on one of
// them.
#pragma once

#include "series.hpp"
#include "support/gpu_test.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>
#include <vector>

namespace parhelion::test {

struct Layout
{
    Grid grid;
    int gpus;
};

// The nth method, going round.
inline HaloMethod method_of(std::size_t n) { return static_cast<HaloMethod>(n % halo_method_names.size()); }

inline std::string name_of(const Layout& layout, HaloMethod method)
{
    return std::to_string(layout.grid[0]) + "x" + std::to_string(layout.grid[1]) + "x" + std::to_string(layout.grid[2]) + " on " +
           std::to_string(layout.gpus) + " " + std::string(halo_method_names[static_cast<std::size_t>(method)]);
}

constexpr int most_gpus = 8;

// Each grid on one GPU and on as many as there are and it has ranks for.
inline std::vector<Layout> layouts(const std::vector<Grid>& grids)
{
    std::vector<Layout> all;
    for (const Grid& grid : grids)
    {
        const int ranks = grid[0] * grid[1] * grid[2];
        for (int gpus = 1; gpus <= std::min({ranks, most_gpus, gpu_count()}); gpus *= 2) { all.push_back({grid, gpus}); }
    }
    return all;
}

inline Simulation simulate_on(const LoadedInput& series, const Layout& layout, HaloMethod method, Precision precision,
                              Summation summation, const SavedState* saved = nullptr)
{
    SimulationOptions options;
    options.device = Device::Gpu;
    options.gpus = layout.gpus;
    options.precision = precision;
    options.summation = summation;
    options.threads = 2;
    options.grid = layout.grid;
    options.halo = method;
    options.comm_timeout = std::chrono::seconds(5);
    return Simulation(series.system, series.parameters, options, saved);
}

// The number of vectors that differ in any bit: printing 45 000 of them would help nobody.
inline std::ptrdiff_t different(const std::vector<Vec3<double>>& a, const std::vector<Vec3<double>>& b)
{
    std::ptrdiff_t count = static_cast<std::ptrdiff_t>(a.size()) - static_cast<std::ptrdiff_t>(b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) { count += a[i] == b[i] ? 0 : 1; }
    return count;
}

class RanksOnGpus : public GpuTest
{
protected:
    void SetUp() override { take_gpus(1, most_gpus); }
};

// Ranks on so many GPUs, or as many as there are, and on virtual nodes of so many ranks (0: on none).
struct Way
{
    HaloMethod method;
    Grid grid;
    int gpus;
    int ranks_per_node = 0;
};
inline std::string name_of(const Way& way)
{
    std::string name(halo_method_names[static_cast<std::size_t>(way.method)]);
    std::replace(name.begin(), name.end(), '-', '_');
    if (way.ranks_per_node == 0) { return name; }
    const int nodes = way.grid[0] * way.grid[1] * way.grid[2] / way.ranks_per_node;
    return name + "_" + std::to_string(nodes) + "_nodes_of_" + std::to_string(way.ranks_per_node);
}
inline void PrintTo(const Way& way, std::ostream* os) { *os << name_of(way); }

} // namespace parhelion::test
