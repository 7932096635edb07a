// SPDX-License-Identifier: Apache-2.0
#include "run/summary.hpp"

#include "run/describe.hpp"
#include "run/version.hpp"

#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <string_view>
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

std::string borders_text(const Balance& balance)
{
    std::string text;
    for (std::size_t d = 0; d < 3; ++d)
    {
        if (balance.borders[d].empty()) { continue; }
        text += fmt::format("{}{}", text.empty() ? "" : ", ", std::string_view("xyz").substr(d, 1));
        for (const double border : balance.borders[d]) { text += fmt::format(" {:.4f}", border); }
    }
    return text;
}

std::string balance_text(const Balance& balance)
{
    if (balance.moves == 0)
    {
        return fmt::format("load balance: the slowest rank worked {:.1f} % longer than the mean; cells stayed equal",
                           100 * balance.imbalance);
    }
    return fmt::format(
        "load balance: the slowest rank worked {:.1f} % longer than the mean at first, and {:.1f} % at last; borders "
        "of cells moved {} time{}, to {} (in box edges)",
        100 * balance.first_imbalance, 100 * balance.imbalance, balance.moves, balance.moves == 1 ? "" : "s",
        borders_text(balance));
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
    if (summary.balance)
    {
        const Balance& balance = *summary.balance;
        report.load_balance = {{"first_imbalance", balance.first_imbalance},
                               {"imbalance", balance.imbalance},
                               {"moves", static_cast<double>(balance.moves)}};
        if (balance.moves > 0) { report.borders = borders_text(balance); }
    }
    report.pairlist = {
        {"cutoff_nm", plan.list_cutoff}, {"buffer_nm", plan.buffer}, {"tested_pairs_per_atom", summary.pairs_per_atom}};
    if (plan.keeps_lists) { report.pairlist.emplace_back("built", static_cast<double>(summary.lists_built)); }
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
