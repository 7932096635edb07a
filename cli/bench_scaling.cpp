// SPDX-License-Identifier: Apache-2.0
// `parhelion bench scaling`: whole steps by size, number of GPUs and halo method, in one go: the table that says how much faster
// a system gets. bench/gpu/plot_scaling.py draws it.
#include "commands.hpp"
#include "describe.hpp"
#include "series.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

nlohmann::ordered_json to_json(std::int64_t atoms, const std::string& method, std::int64_t steps, const PlanSummary& plan,
                               const RunSummary& summary)
{
    nlohmann::ordered_json line = {{"case", "scaling"},
                                   {"atoms", atoms},
                                   {"gpus", plan.gpus},
                                   {"ranks", plan.ranks},
                                   {"grid", grid_text(plan.grid)},
                                   {"method", plan.ranks > 1 ? method : "none"},
                                   {"steps", steps},
                                   {"ns_per_day", summary.ns_per_day},
                                   {"us_per_step", summary.us_per_step},
                                   {"host_load", summary.host_load},
                                   {"list_interval", plan.list_interval},
                                   {"list_cutoff_nm", plan.list_cutoff},
                                   {"tested_pairs_per_atom", summary.pairs_per_atom},
                                   {"kernel", plan.kernel},
                                   {"machine", describe_machine()},
                                   {"version", version_text()}};
    for (const auto& [phase, us] : summary.phases)
    {
        if (us > 0) { line["phases"][phase] = us; }
    }
    return line;
}

} // namespace

void command_bench_scaling(const BenchScalingOptions& options)
{
    const std::atomic<bool> never{false};
    Observer nobody;
    fmt::print("{:>9} {:>5} {:>7} {:<13} {:>9} {:>9} {:>8} {:>10}\n", "atoms", "GPUs", "grid", "method", "us/step", "ns/day",
               "speed-up", "host load");
    for (const std::int64_t atoms : options.atoms)
    {
        double of_first = 0; // ns/day
        for (const int gpus : options.gpus)
        {
            for (const std::string& method : options.methods)
            {
                if (gpus == 1 && method != options.methods.front()) { continue; } // nothing to exchange
                EngineOptions engine;
                engine.device = "gpu", engine.gpus = gpus, engine.halo = method, engine.comm_timeout_s = options.comm_timeout_s;
                Simulation simulation = series_simulation(atoms, engine);
                // Lists have found their room, and patterns of steps their graphs, before time counts.
                simulation.run(std::max<std::int64_t>(options.steps / 2, 2000), nobody, never);
                const RunSummary summary = simulation.run(options.steps, nobody, never);
                const PlanSummary& plan = simulation.plan();
                if (of_first == 0) { of_first = summary.ns_per_day; }
                fmt::print("{:>9} {:>5} {:>7} {:<13} {:>9.1f} {:>9.1f} {:>8.2f} {:>10.3f}\n", atoms, plan.gpus,
                           grid_text(plan.grid), plan.ranks > 1 ? method : "", summary.us_per_step, summary.ns_per_day,
                           summary.ns_per_day / of_first, summary.host_load);
                std::fflush(stdout);
                append_line(options.json, to_json(atoms, method, options.steps, plan, summary).dump());
            }
        }
    }
}

} // namespace parhelion
