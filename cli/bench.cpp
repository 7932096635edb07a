// SPDX-License-Identifier: Apache-2.0
// `parhelion bench`: times the phases of a step on boxes of the ethanol-water series, per atom. Prints a table and JSON lines.
#include "commands.hpp"
#include "run/describe.hpp"
#include "series.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

// Returns tested pairs per second of pair-force time, or 0 if unknown. If all ranks run at once, the first rank's time is used.
double tested_pairs_per_second(const RunSummary& summary, const PlanSummary& plan, std::int64_t atoms)
{
    if (summary.phases.empty() || !threads_remark(plan).empty()) { return 0; }
    const double us = summary.phases[static_cast<std::size_t>(Phase::Nonbonded)].second;
    return us > 0 ? summary.pairs_per_atom * static_cast<double>(atoms) / us * 1e6 : 0;
}

void print_phases(const RunSummary& summary, std::int64_t atoms)
{
    for (const auto& [phase, us] : summary.phases)
    {
        if (us > 0)
        {
            fmt::print("  {:<16} {:10.1f} us/step {:8.3f} ns/atom\n", phase, us, us * 1000 / static_cast<double>(atoms));
        }
    }
}

void print_kernels(const RunSummary& summary)
{
    if (summary.kernels.empty()) { return; }
    fmt::print("  {:<26} {:<11} {:>10} {:>8} {:>8} {:>8} {:>7} {:>9} {:>7} {:>7} {:>9}\n", "kernel", "phase", "calls/step",
               "us/call", "us/step", "blocks", "threads", "registers", "spilled", "shared", "occupancy");
    for (const KernelTime& k : summary.kernels)
    {
        fmt::print("  {:<26} {:<11} {:>10.3f} {:>8.2f} {:>8.2f} {:>8} {:>7} {:>9} {:>7} {:>7} {:>8.0f}%\n", k.name, k.phase,
                   k.calls_per_step, k.us_per_call, k.calls_per_step * k.us_per_call, k.blocks, k.threads, k.registers,
                   k.spilled_bytes, k.shared_bytes, 100 * k.occupancy);
    }
}

nlohmann::ordered_json kernels_json(const RunSummary& summary)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const KernelTime& k : summary.kernels)
    {
        list.push_back({{"kernel", k.name},
                        {"phase", k.phase},
                        {"calls_per_step", k.calls_per_step},
                        {"us_per_call", k.us_per_call},
                        {"blocks", k.blocks},
                        {"threads", k.threads},
                        {"registers", k.registers},
                        {"spilled_bytes", k.spilled_bytes},
                        {"shared_bytes", k.shared_bytes},
                        {"occupancy", k.occupancy}});
    }
    return list;
}

void print_result(std::int64_t atoms, const PlanSummary& plan, const RunSummary& summary)
{
    const std::string mesh = mesh_method_text(plan);
    const std::string where = plan.on_gpu ? plan.kernel
                                          : fmt::format("{} ranks of {} threads, {}{}", plan.ranks, plan.threads,
                                                        mesh.empty() ? "" : "mesh " + mesh + ", ", plan.kernel);
    fmt::print(
        "{} atoms, {}: {:.1f} us/step, {:.2f} ns/day; list {} steps, {:.3f} nm, {:.0f} tested pairs/atom; host load {:.3f} "
        "cores\n",
        atoms, where, summary.us_per_step, summary.ns_per_day, plan.list_interval, plan.list_cutoff, summary.pairs_per_atom,
        summary.host_load);
    print_phases(summary, atoms);
    print_kernels(summary);
    if (const double rate = tested_pairs_per_second(summary, plan, atoms); rate > 0)
    {
        fmt::print("  {:.3g} tested pairs a second of pair forces\n", rate);
    }
    if (const std::string remark = threads_remark(plan); !remark.empty()) { fmt::print("  {}\n", remark); }
}

nlohmann::ordered_json to_json(std::int64_t atoms, const BenchOptions& options, const PlanSummary& plan,
                               const RunSummary& summary)
{
    nlohmann::ordered_json line = {{"case", electrostatics_name(options.electrostatics)},
                                   {"atoms", atoms},
                                   {"gpus", plan.gpus},
                                   {"ranks", plan.ranks},
                                   {"threads", plan.threads},
                                   {"pme", mesh_method_text(plan)},
                                   {"steps", options.steps},
                                   {"ns_per_day", summary.ns_per_day},
                                   {"us_per_step", summary.us_per_step},
                                   {"host_load", summary.host_load},
                                   {"kernel", plan.kernel},
                                   {"precision", precision_names[static_cast<std::size_t>(options.engine.numerics.precision)]},
                                   {"list_interval", plan.list_interval},
                                   {"list_cutoff_nm", plan.list_cutoff},
                                   {"tested_pairs_per_atom", summary.pairs_per_atom},
                                   {"machine", describe_machine()},
                                   {"version", version_text()}};
    for (const auto& [phase, us] : summary.phases)
    {
        if (us > 0) { line["phases"][phase] = us; }
    }
    if (!summary.kernels.empty())
    {
        line["tested_pairs_per_second"] = tested_pairs_per_second(summary, plan, atoms);
        line["kernels"] = kernels_json(summary);
    }
    return line;
}

} // namespace

void command_bench(const BenchOptions& options)
{
    expect_writable(options.json);
    const std::atomic<bool> never{false};
    for (const std::int64_t atoms : options.atoms)
    {
        Simulation simulation = series_simulation(atoms, options.electrostatics, options.engine);
        Observer nobody;
        simulation.run(options.steps / 5, nobody, never); // warms up before the measurement
        const RunSummary summary = simulation.run(options.steps, nobody, never);
        print_result(atoms, simulation.plan(), summary);
        append_line(options.json, to_json(atoms, options, simulation.plan(), summary).dump());
    }
}

} // namespace parhelion
