// SPDX-License-Identifier: Apache-2.0
#include "run/summary.hpp"

#include "run/describe.hpp"
#include "run/version.hpp"

#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <utility>

namespace parhelion {

std::string force_text(const RunSummary& summary)
{
    return fmt::format("largest force {:.4g} kJ/mol/nm{}", summary.largest_force, summary.converged ? "" : " (not converged)");
}

std::string drift_text(const RunSummary& summary)
{
    return fmt::format("{:+.5f} +- {:.5f} kT/ns/atom", summary.drift, summary.drift_error);
}

RunReport make_report(const RunNumerics& numerics, const RunSummary& summary, const PlanSummary& plan, std::int64_t atoms,
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
    report.precision = numerics.text();
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
    const bool has_drift = std::isfinite(summary.drift); // a short run has no drift
    return fmt::format("\n{} steps, {:.2f} ns/day{}", summary.steps, summary.ns_per_day,
                       has_drift ? ", drift " + drift_text(summary) : "");
}

} // namespace parhelion
