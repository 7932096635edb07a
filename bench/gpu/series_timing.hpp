// SPDX-License-Identifier: Apache-2.0
// Holds what the benchmarks of GPU kernels share: systems of the water/ethanol series, and times of graphs of many calls.
#pragma once

#include "device/gpu/graph.hpp"
#include "generate/ethanol_water.hpp"
#include "io/input/load.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace parhelion {

inline LoadedInput load_size(std::int64_t atoms, SeriesElectrostatics electrostatics = SeriesElectrostatics::ReactionField)
{
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("parhelion-gpu-bench-" + std::to_string(::getpid()));
    generate_ethanol_water({atoms, electrostatics, 2026}, folder);
    Diagnostics diagnostics;
    LoadedInput input = load_gromacs({folder / "md.mdp", folder / "conf.gro", folder / "topol.top", {}, {}, {}}, diagnostics);
    std::filesystem::remove_all(folder);
    return input;
}

// Returns microseconds a call, of `calls` calls in a graph; of all repetitions, the shortest first.
template <class Work>
std::vector<double> sorted_us(GpuQueue& queue, int repetitions, int calls, const Work& work)
{
    work(); // allocates
    const GpuGraph graph(queue, [&] {
        for (int i = 0; i < calls; ++i) { work(); }
    });
    std::vector<double> us;
    for (int r = -1; r < repetitions; ++r)
    {
        queue.synchronize();
        const auto begin = std::chrono::steady_clock::now();
        graph.replay(queue);
        queue.synchronize();
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
        if (r >= 0) { us.push_back(time.count() / calls); }
    }
    std::sort(us.begin(), us.end());
    return us;
}
template <class Work>
double median_us(GpuQueue& queue, int repetitions, int calls, const Work& work)
{
    return sorted_us(queue, repetitions, calls, work)[static_cast<std::size_t>(repetitions / 2)];
}

} // namespace parhelion
