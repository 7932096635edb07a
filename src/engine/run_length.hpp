// SPDX-License-Identifier: Apache-2.0
// The length of a run, the steps of it that are timed, and its rates and drift. The functions serve CPUs and GPUs.
#pragma once

#include "base/units.hpp"
#include "engine/conserved_energy.hpp"
#include "engine/simulation.hpp"
#include "pairs/list_conditions.hpp"
#include "trace/stopwatch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace parhelion {

// The number of steps of a run without an end. It is so small that the sum with a run's first step cannot overflow.
inline constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max() / 4;

// Returns the number of steps of a run. `asked` < 0: the number in the parameters.
inline std::int64_t steps_to_take(std::int64_t asked, const RunParameters& parameters)
{
    if (asked >= 0) { return asked; }
    return parameters.steps >= 0 ? parameters.steps : endless;
}

// Returns the number of steps of all parts of a run that ends at `last`, for Observer::progress(). Negative: no end is known.
inline std::int64_t steps_in_all(std::int64_t first_step, std::int64_t last)
{
    return last - first_step >= endless ? -1 : last - first_step;
}

// Returns the first timed step: after the first tenth of the run (500 to 20 000 steps); in a short run `first`.
inline std::int64_t steady_from(std::int64_t first, std::int64_t steps)
{
    return first + (steps > 1000 ? std::clamp<std::int64_t>(steps / 10, 500, 20000) : 0);
}

inline void set_rates(RunSummary& summary, double dt, std::int64_t timed_steps, const Stopwatch& timed)
{
    if (timed_steps <= 0) { return; }
    summary.timed_steps = timed_steps;
    const double per_step = timed.wall_s() / static_cast<double>(timed_steps);
    summary.us_per_step = per_step * 1e6;
    summary.ns_per_day = dt * 1e-3 * 86400 / per_step;
    summary.host_load = timed.load();
}

// Sets summary.drift and its error, kT/ns/atom. temperature: K; if the run has no temperature, 300 K is used.
inline void set_drift(RunSummary& summary, const ConservedEnergy& conserved, double temperature, std::int64_t atoms)
{
    const double kt = units::boltzmann * (temperature > 0 ? temperature : 300.0), scale = 1000 / kt / static_cast<double>(atoms);
    summary.drift = conserved.drift().value() * scale;
    summary.drift_error = conserved.drift().error() * scale;
    summary.volume_change = conserved.volume_change();
}

// Sets the evidence on lists. error: estimated drift that lists cause, kJ/mol/ps per atom (ListWatch::error()).
inline void set_list_evidence(RunSummary& summary, double error, const ListConditions& conditions)
{
    summary.list_drift = 1000 * error / (units::boltzmann * conditions.temperature);
    summary.list_temperature = conditions.temperature;
}

} // namespace parhelion
