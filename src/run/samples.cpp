// SPDX-License-Identifier: Apache-2.0
#include "run/samples.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

std::int64_t whole_intervals(std::int64_t steps, int list_interval)
{
    return (steps + list_interval - 1) / list_interval * list_interval;
}

std::int64_t steps_of_window(Simulation& simulation, double seconds, std::int64_t least, const std::atomic<bool>& stop)
{
    PARHELION_EXPECTS(seconds > 0 && least > 0);
    Observer nobody;
    const int interval = simulation.plan().list_interval;
    for (std::int64_t steps = interval;; steps *= 2)
    {
        const RunSummary summary = simulation.run(steps, nobody, stop);
        if (summary.wall_s < 0.25 * seconds && !stop) { continue; }
        const double per_step = summary.wall_s / static_cast<double>(std::max<std::int64_t>(summary.steps, 1));
        return whole_intervals(std::max<std::int64_t>(least, std::llround(seconds / per_step)), interval);
    }
}

Samples take_samples(Simulation& simulation, std::int64_t steps, int windows, const std::atomic<bool>& stop)
{
    PARHELION_EXPECTS(windows > 0);
    Observer nobody;
    Samples samples;
    for (int n = 0; n < windows; ++n)
    {
        RunSummary summary = simulation.run(whole_intervals(steps, simulation.plan().list_interval), nobody, stop);
        if (summary.end == RunEnd::Stopped && n > 0) { break; }
        samples.us_per_step.push_back(summary.us_per_step);
        samples.runs.push_back(std::move(summary));
    }
    samples.spread = spread_of(samples.us_per_step);
    return samples;
}

} // namespace parhelion
