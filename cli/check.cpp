// SPDX-License-Identifier: Apache-2.0
// `parhelion check`: what a run would read and plan, and how fast it would be, without running it.
#include "base/error.hpp"
#include "commands.hpp"
#include "describe.hpp"
#include "io/progress.hpp"

#include <chrono>
#include <fmt/format.h>

namespace parhelion {

void command_check(const CheckOptions& options)
{
    Diagnostics diagnostics;
    const auto start = std::chrono::steady_clock::now();
    LoadedInput input = load_checked(options.input, Purpose::Run, diagnostics);
    const double load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const Warning& note : diagnostics.notes) { fmt::print("note: {}\n", note.text()); }
    fmt::print("{}{}{}read in {:.2f} s\n", describe_system(input.system), describe_run(input.parameters, input.parameters.steps),
               describe_start(input.hand_over), load_s);

    const Topology topology = input.system.topology;
    const double dt = input.parameters.dt;
    const std::int64_t steps = input.parameters.steps;
    const bool minimises = input.parameters.integrator == Integrator::SteepestDescent;
    Simulation simulation(std::move(input.system), std::move(input.parameters), simulation_options(options.engine),
                          state_of(input.hand_over));
    fmt::print("{}", describe_plan(simulation.plan()));
    const auto evaluated = std::chrono::steady_clock::now();
    const SinglePoint point = simulation.evaluate();
    const double step_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - evaluated).count();
    stop_if_overflowing(simulation, point, topology);
    fmt::print("potential energy {:.6g} kJ/mol, pressure {:.4g} bar\n", point.observables.potential, point.observables.pressure);
    if (!point.remark.empty()) { fmt::print("note: {}\n", point.remark); }
    const std::string rate =
        minimises ? fmt::format("{:.3g} steps/s", 1 / step_s) : fmt::format("{:.3g} ns/day", dt * 86.4 / step_s);
    const std::string length =
        steps < 0 ? "no end" : fmt::format("{} steps in at most {}", steps, duration_text(step_s * static_cast<double>(steps)));
    fmt::print("forecast: at least {}; {}\n", rate, length);
    if (!point.trouble.empty()) { throw PhysicsError(0, point.trouble); }
}

} // namespace parhelion
