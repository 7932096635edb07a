// SPDX-License-Identifier: Apache-2.0
// Measures the speed of a simulation in several windows of steps, one after another, and gives their median and spread. The
// steady part of each window is timed (engine/run_length.hpp), repartitions included. Cost: the steps.
#pragma once

#include "engine/simulation.hpp"
#include "trace/spread.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace parhelion {

struct Samples
{
    std::vector<RunSummary> runs; // one per window
    std::vector<double> us_per_step;
    Spread spread{}; // spread of us_per_step
    const RunSummary& median() const { return runs[spread.median]; }
};

// Returns `steps` rounded up to whole list intervals. On a GPU a shorter interval would take extra graphs and disturb timings.
std::int64_t whole_intervals(std::int64_t steps, int list_interval);

// Runs warm-up steps for about half of `seconds`. Returns the number of steps that take `seconds`, at least `least`, rounded up
// to whole list intervals. Throws as Simulation::run(). Precondition: seconds > 0, least > 0.
std::int64_t steps_of_window(Simulation& simulation, double seconds, std::int64_t least, const std::atomic<bool>& stop);

// Runs `windows` windows of `steps` steps each, rounded up to whole list intervals. If `stop` is raised, the result has only the
// windows that were complete, but at least the first. Throws as Simulation::run(). Precondition: windows > 0.
Samples take_samples(Simulation& simulation, std::int64_t steps, int windows, const std::atomic<bool>& stop);

} // namespace parhelion
