// SPDX-License-Identifier: Apache-2.0
#include "run_summary.hpp"

#include "run/describe.hpp"
#include "run/version.hpp"
#include "say.hpp"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace parhelion {

namespace {

std::string force_text(const RunSummary& summary)
{
    return fmt::format("largest force {:.4g} kJ/mol/nm{}", summary.largest_force, summary.converged ? "" : " (not converged)");
}

std::string drift_text(const RunSummary& summary)
{
    return fmt::format("{:+.5f} +- {:.5f} kT/ns/atom", summary.drift, summary.drift_error);
}

std::string size_text(std::uintmax_t bytes)
{
    const auto b = static_cast<double>(bytes);
    return b < 1e6   ? fmt::format("{:.1f} kB", b * 1e-3)
           : b < 1e9 ? fmt::format("{:.1f} MB", b * 1e-6)
                     : fmt::format("{:.2f} GB", b * 1e-9);
}

// What there is to look at, and how.
void print_files(const RunResults& results)
{
    std::string files;
    for (const char* ending : {".xtc", ".trr", ".edr", ".gro", ".cpt", ".log", ".report.json"})
    {
        const std::string path = results.prefix + ending;
        std::error_code absent;
        const std::uintmax_t bytes = std::filesystem::file_size(path, absent);
        if (!absent) { files += fmt::format("{}{} {}", files.empty() ? "" : ", ", path, size_text(bytes)); }
    }
    say(stdout, "files     {}\n", files);
    if (results.trajectory.empty() || !std::filesystem::exists(results.trajectory)) { return; }
    say(stdout, "python    import MDAnalysis as mda; u = mda.Universe(\"{}.gro\", \"{}\")\n", results.prefix, results.trajectory);
}

} // namespace

std::string precision_text(const EngineOptions& engine)
{
    return engine.precision + (engine.reproducible ? " reproducible" : "");
}

RunReport make_report(const EngineOptions& engine, const RunSummary& summary, const PlanSummary& plan, std::int64_t atoms,
                      double dt, NamedList<RunReport::Spread> energies)
{
    RunReport report;
    report.atoms = atoms;
    report.steps = summary.steps;
    report.dt_ps = dt;
    report.ns_per_day = summary.ns_per_day;
    report.us_per_step = summary.us_per_step;
    report.wall_s = summary.wall_s;
    report.host_load = summary.host_load;
    report.precision = precision_text(engine);
    if (plan.on_gpu) { report.device = "gpu", report.gpus = plan.gpus; }
    report.ranks = plan.ranks;
    report.grid = grid_text(plan.grid);
    if (plan.ranks > 1)
    {
        report.halo = halo_method_names[static_cast<std::size_t>(plan.halo)];
        report.transport = !plan.transport.empty() ? plan.transport
                           : plan.on_gpu           ? "gpu"
                           : plan.processes > 1    ? "processes"
                                                   : "threads";
    }
    for (const HelperPlace& helper : plan.helpers) { report.helpers.emplace_back(helper.name, helper.core); }
    if (const std::string method = mesh_method_text(plan); !method.empty()) { report.pme = method; }
    report.threads = plan.threads;
    report.repartition_interval = plan.list_interval;
    report.pairlist = {
        {"cutoff_nm", plan.list_cutoff}, {"buffer_nm", plan.buffer}, {"tested_pairs_per_atom", summary.pairs_per_atom}};
    report.phases = summary.phases;
    report.energies = std::move(energies);
    report.conserved_drift_kT_per_ns_per_atom = summary.drift;
    report.conserved_drift_error_kT_per_ns_per_atom = summary.drift_error;
    report.version = {{"program", version_text()}, {"machine", describe_machine()}, {"kernel", plan.kernel}};
    return report;
}

std::string summary_line(const RunSummary& summary, bool minimised)
{
    if (minimised) { return fmt::format("\n{} steps, {}", summary.steps, force_text(summary)); }
    const bool has_drift = std::isfinite(summary.drift); // not if it was short
    return fmt::format("\n{} steps, {:.2f} ns/day{}", summary.steps, summary.ns_per_day,
                       has_drift ? ", drift " + drift_text(summary) : "");
}

void print_summary(const RunSummary& summary, const PlanSummary& plan, const RunResults& results)
{
    say(stdout, "\n{} steps in {:.2f} s", summary.steps, summary.wall_s);
    if (results.minimised)
    {
        say(stdout, ", {}\n", force_text(summary));
        print_files(results);
        return;
    }
    const std::string where = plan.on_gpu
                                  ? plan.kernel
                                  : fmt::format("{}{} thread{}", plan.ranks == 1 ? "" : fmt::format("{} ranks of ", plan.ranks),
                                                plan.threads, plan.threads == 1 ? "" : "s");
    say(stdout, ": {:.2f} ns/day, {:.1f} us/step on {}; host load {:.3f} cores\n", summary.ns_per_day, summary.us_per_step, where,
        summary.host_load);
    for (const auto& [phase, us] : summary.phases)
    {
        if (us > 0) { say(stdout, "  {:<16} {:10.1f} us/step {:5.1f} %\n", phase, us, 100 * us / summary.us_per_step); }
    }
    if (summary.covered_us > 0)
    {
        const double rest = summary.us_per_step - summary.covered_us;
        say(stdout, "  {:<16} {:10.1f} us/step {:5.1f} %\n", "rest", rest, 100 * rest / summary.us_per_step);
    }
    if (std::isfinite(summary.drift)) { say(stdout, "drift of the conserved quantity: {}\n", drift_text(summary)); }
    say(stdout, "{}", results.averages);
    print_files(results);
}

} // namespace parhelion
