// SPDX-License-Identifier: Apache-2.0
// `parhelion check`: shows the input and the plan of a run and estimates its speed, without running it.
#include "base/error.hpp"
#include "commands.hpp"
#include "model/minimisers.hpp"
#include "run/describe.hpp"
#include "run/progress.hpp"
#include "say.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Returns an estimate of the run's time. The steps of a minimisation cannot be predicted, so its limit is no forecast.
std::string forecast(const RunParameters& parameters, double step_s)
{
    const std::int64_t steps = parameters.steps;
    if (is_minimisation(parameters.integrator))
    {
        return fmt::format(
            "at least {:.3g} steps/s; {} for 1000 steps at most, and it ends once no force is above {:g} kJ/mol/nm{}", 1 / step_s,
            duration_text(1000 * step_s), parameters.em_tolerance, steps < 0 ? "" : fmt::format(", or after {} steps", steps));
    }
    return fmt::format(
        "at least {:.3g} ns/day; {}", parameters.dt * 86.4 / step_s,
        steps < 0 ? "no end" : fmt::format("{} steps in at most {}", steps, duration_text(step_s * static_cast<double>(steps))));
}

// Returns the shorter time of two steps, since the first includes page faults and cache misses. A slow step is not repeated.
double seconds_of_step(Simulation& simulation, double first_s)
{
    constexpr double long_s = 5;
    if (first_s > long_s) { return first_s; }
    const auto begin = std::chrono::steady_clock::now();
    simulation.evaluate();
    return std::min(first_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

} // namespace

void command_check(const CheckOptions& options)
{
    const SimulationOptions engine = simulation_options(options.engine);
    Diagnostics diagnostics;
    const auto start = std::chrono::steady_clock::now();
    LoadedInput input = load_checked(options.input, Purpose::Run, diagnostics);
    const double load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const Warning& note : diagnostics.notes) { say_fitted(stdout, "note: " + note.text() + "\n"); }
    say_fitted(stdout, describe_system(input.system) + describe_run(input.parameters, input.parameters.steps) +
                           describe_start(input.hand_over) + fmt::format("read in {:.2f} s\n", load_s));

    const Topology topology = input.system.topology;
    const RunParameters parameters = input.parameters;
    Simulation simulation(std::move(input.system), std::move(input.parameters), engine, state_of(input.hand_over));
    say_fitted(stdout, describe_plan(simulation.plan()));
    const auto evaluated = std::chrono::steady_clock::now();
    const SinglePoint point = simulation.evaluate();
    const double first_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - evaluated).count();
    expect_finite(simulation, point, topology);
    say(stdout, "potential energy {:.6g} kJ/mol, pressure {:.4g} bar\n", point.observables.potential, point.observables.pressure);
    if (!point.remark.empty()) { say_fitted(stdout, "note: " + point.remark + "\n"); }
    say_fitted(stdout, "forecast: " + forecast(parameters, seconds_of_step(simulation, first_s)) + "\n");
    if (!point.trouble.empty()) { throw PhysicsError(0, point.trouble); }
}

} // namespace parhelion
