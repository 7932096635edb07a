// SPDX-License-Identifier: Apache-2.0
// `parhelion bench scaling`: measures whole steps by size, number of GPUs and halo method. It prints a
// table of speed-ups and of the parts of a step, then compares the methods, and draws figures of the table.
//
// The benchmark measures the wall time of the steady part of a run (engine/run_length.hpp) per step, including
// repartitions. All samples continue one simulation. Each line shows the median sample, and the spread of all samples.
#include "base/error.hpp"
#include "commands.hpp"
#include "engine/run_length.hpp"
#include "plot.hpp"
#include "run/describe.hpp"
#include "run/samples.hpp"
#include "series.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

// Returns JSON with a number for every part of the work of a step and every GPU.
nlohmann::ordered_json work_json(const RunSummary& summary)
{
    nlohmann::ordered_json parts;
    for (const auto& [name, part] : step_work_parts)
    {
        for (const StepWork& work : summary.work) { parts[std::string(name)].push_back(work.*part); }
    }
    return parts;
}

// The way in which GPUs exchange halos and, with PME, share the mesh.
struct Way
{
    HaloMethod halo;
    std::optional<MeshChoice> pme; // empty: the run has no PME

    std::string name() const { return pme ? fmt::format("{}, {}", halo_name(halo), mesh_choice_text(*pme)) : halo_name(halo); }
};

nlohmann::ordered_json to_json(std::int64_t atoms, SeriesElectrostatics electrostatics, const Way& way, const PlanSummary& plan,
                               const Samples& samples)
{
    const RunSummary& summary = samples.median();
    nlohmann::ordered_json line = {{"case", "scaling"},
                                   {"atoms", atoms},
                                   {"electrostatics", electrostatics_name(electrostatics)},
                                   {"gpus", plan.gpus},
                                   {"ranks", plan.ranks},
                                   {"grid", grid_text(plan.grid)},
                                   {"method", plan.ranks > 1 ? halo_name(way.halo) : "none"},
                                   {"steps", summary.steps},
                                   {"timed_steps", summary.timed_steps},
                                   {"ns_per_day", summary.ns_per_day},
                                   {"us_per_step", summary.us_per_step},
                                   {"us_per_step_min", samples.spread.min},
                                   {"us_per_step_max", samples.spread.max},
                                   {"us_per_step_samples", samples.us_per_step},
                                   {"host_load", summary.host_load},
                                   {"list_interval", plan.list_interval},
                                   {"list_cutoff_nm", plan.list_cutoff},
                                   {"tested_pairs_per_atom", summary.pairs_per_atom},
                                   {"kernel", plan.kernel},
                                   {"machine", describe_machine()},
                                   {"version", version_text()}};
    if (plan.mesh && plan.ranks > 1) { line["pme"] = mesh_method_text(plan); }
    for (const auto& [phase, us] : summary.phases)
    {
        if (us > 0) { line["phases"][phase] = us; }
    }
    if (!summary.work.empty()) { line["work_us"] = work_json(summary); }
    return line;
}

void print_head(const BenchScalingOptions& options)
{
    fmt::print(
        "Wall time of a step: the median of {} samples, with the least and the largest. A sample is {} steps, or a few more so "
        "that lists\nend with it, of which at least the first {} are not timed; the samples follow each other in one "
        "simulation.\n",
        options.repetitions, options.steps, steady_from(0, options.steps));
    fmt::print("{:>9} {:>5} {:>7} {:<20} {:>9} {:>19} {:>9} {:>8} {:>10}", "atoms", "GPUs", "grid", "method", "us/step",
               "least .. largest", "ns/day", "speed-up", "host load");
    for (const auto& [name, part] : step_work_parts) { fmt::print(" {:>13}", name); }
    fmt::print("\n{:>104} {:>13}\n", "", "us: mean / max over GPUs");
}

void print_line(std::int64_t atoms, const std::string& method, double of_first, const PlanSummary& plan, const Samples& samples)
{
    const RunSummary& summary = samples.median();
    fmt::print("{:>9} {:>5} {:>7} {:<20} {:>9.1f} {:>19} {:>9.1f} {:>8.2f} {:>10.3f}", atoms, plan.gpus, grid_text(plan.grid),
               plan.ranks > 1 ? method : "", summary.us_per_step,
               fmt::format("{:.1f} .. {:.1f}", samples.spread.min, samples.spread.max), summary.ns_per_day,
               summary.ns_per_day / of_first, summary.host_load);
    for (const auto& [name, part] : step_work_parts)
    {
        double sum = 0, largest = 0;
        for (const StepWork& work : summary.work) { sum += work.*part, largest = std::max(largest, work.*part); }
        // A step then has so many thread blocks that their trace records hold no complete step.
        if (largest == 0 && std::all_of(summary.work.begin(), summary.work.end(), [](const StepWork& w) { return w.step == 0; }))
        {
            fmt::print(" {:>6} {:<6}", "-", "");
            continue;
        }
        const auto gpus = static_cast<double>(std::max<std::size_t>(summary.work.size(), 1));
        fmt::print(" {:>6.1f}/{:<6.1f}", sum / gpus, largest);
    }
    fmt::print("\n");
    std::fflush(stdout);
}

// How a system is divided: the number of GPUs, and the grid of domains; zeros stand for the grid whose halo costs least.
struct Division
{
    int gpus;
    std::array<int, 3> grid{};
};

std::vector<Division> divisions(const BenchScalingOptions& options)
{
    std::vector<Division> result;
    for (const std::array<int, 3>& grid : options.grids) { result.push_back({grid[0] * grid[1] * grid[2], grid}); }
    for (const int gpus : options.gpus) { result.push_back({gpus, {}}); }
    int most = 0;
    for (const Division& division : result) { most = std::max(most, division.gpus); }
    const auto here = static_cast<int>(gpus_here(most).size());
    if (!result.empty()) { return result; }
    for (const int number : powers_of_two_and_all(here)) { result.push_back({number, {}}); }
    return result;
}

struct Rung
{
    std::int64_t atoms;
    int gpus;
    std::string method, grid;
    double us_per_step;
};

// Prints the gain of each method over the method before it, for every size and number of GPUs.
void print_ladder(const std::vector<Rung>& rungs)
{
    fmt::print("\n{:>9} {:>5} {:>7} {:<13} {:>9} {:>9} {:>9}\n", "atoms", "GPUs", "grid", "rung", "us/step", "gain", "in all");
    for (std::size_t i = 0, first = 0; i < rungs.size(); ++i)
    {
        const Rung& rung = rungs[i];
        if (rung.atoms != rungs[first].atoms || rung.grid != rungs[first].grid) { first = i; }
        const auto gain_over = [&](const Rung& other) { return 100 * (other.us_per_step / rung.us_per_step - 1); };
        fmt::print("{:>9} {:>5} {:>7} {:<20} {:>9.1f}", rung.atoms, rung.gpus, rung.grid, rung.method, rung.us_per_step);
        if (i > first) { fmt::print(" {:>+8.1f}% {:>+8.1f}%", gain_over(rungs[i - 1]), gain_over(rungs[first])); }
        fmt::print("\n");
    }
}

Samples samples_of(Simulation& simulation, const BenchScalingOptions& options)
{
    const std::atomic<bool> never{false};
    Observer nobody;
    const int interval = simulation.plan().list_interval;
    // Before the measurement, lists get their capacity, and kinds of steps get their graphs.
    simulation.run(whole_intervals(std::max<std::int64_t>(options.steps / 2, 2000), interval), nobody, never);
    return take_samples(simulation, options.steps, options.repetitions, never);
}

// Returns the requested methods from the slowest to the fastest, without duplicates.
std::vector<HaloMethod> in_order(std::vector<HaloMethod> methods)
{
    std::sort(methods.begin(), methods.end());
    methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
    return methods;
}

std::vector<Way> all_ways(const BenchScalingOptions& options)
{
    const bool has_mesh = options.electrostatics == SeriesElectrostatics::Pme;
    if (!has_mesh && (options.pme.size() != 1 || options.pme.front().method != MeshMethod::Auto))
    {
        throw InputError("E010", {},
                         "--pme shares the mesh of PME, and reaction field has none. Give --electrostatics pme as well.");
    }
    std::vector<Way> ways;
    for (const HaloMethod halo : in_order(options.methods))
    {
        if (!has_mesh) { ways.push_back({halo, std::nullopt}); }
        else
        {
            for (const MeshChoice& pme : options.pme) { ways.push_back({halo, pme}); }
        }
    }
    return ways;
}

} // namespace

void command_bench_scaling(const BenchScalingOptions& options)
{
    expect_writable(options.json);
    if (!options.plot.empty()) { expect_plotting(); }
    const std::vector<Way> ways = all_ways(options);
    const std::vector<Division> all = divisions(options);
    std::vector<Rung> rungs;
    print_head(options);
    for (const std::int64_t atoms : options.atoms)
    {
        double of_first = 0; // ns/day of the first division of this size
        for (const auto& [gpus, grid] : all)
        {
            for (const Way& way : ways)
            {
                if (gpus == 1 && &way != ways.data()) { continue; } // a single GPU exchanges nothing
                EngineOptions engine;
                RunPlacement& placement = engine.placement;
                placement.device = Device::Gpu, placement.gpus = gpus, placement.grid = grid, placement.halo = way.halo;
                if (way.pme && gpus > 1)
                {
                    placement.pme = way.pme->method, placement.mesh_ranks = way.pme->ranks;
                } // a single GPU needs no method: it has the whole mesh
                placement.comm_timeout = options.comm_timeout;
                Simulation simulation = series_simulation(atoms, options.electrostatics, engine);
                const PlanSummary& plan = simulation.plan();
                const Samples samples = samples_of(simulation, options);
                if (of_first == 0) { of_first = samples.median().ns_per_day; }
                print_line(atoms, way.name(), of_first, plan, samples);
                append_line(options.json, to_json(atoms, options.electrostatics, way, plan, samples).dump());
                if (gpus > 1) { rungs.push_back({atoms, gpus, way.name(), grid_text(plan.grid), samples.median().us_per_step}); }
            }
        }
    }
    if (ways.size() > 1 && !rungs.empty()) { print_ladder(rungs); }
    if (!options.plot.empty()) { plot_scaling(options.json, options.plot); }
}

} // namespace parhelion
