// SPDX-License-Identifier: Apache-2.0
#include "run_summary.hpp"

#include "run/describe.hpp"
#include "run/summary.hpp"
#include "say.hpp"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Prints the time of a step by phase. Phases of negligible time are omitted.
void print_phases(const RunSummary& summary)
{
    constexpr double shown = 0.05; // us per step
    const auto row = [&](const std::string& phase, double us) {
        say(stdout, "  {:<16} {:10.1f} us/step {:5.1f} %\n", phase, us, 100 * us / summary.us_per_step);
    };
    for (const auto& [phase, us] : summary.phases)
    {
        if (us >= shown) { row(phase, us); }
    }
    if (summary.covered_us > 0) { row("rest", summary.us_per_step - summary.covered_us); }
}

// Prints the files that can be viewed, and commands that show them.
void print_files(const RunResult& result, const std::string& prefix)
{
    std::string files;
    for (const char* ending : {".xtc", ".trr", ".h5md", ".edr", ".gro", ".cpt", ".log", ".report.json"})
    {
        const std::string path = prefix + ending;
        std::error_code absent;
        const std::uintmax_t bytes = std::filesystem::file_size(path, absent);
        if (!absent) { files += fmt::format("{}{} {}", files.empty() ? "" : ", ", path, size_text(bytes)); }
    }
    say_fitted(stdout, fmt::format("files     {}\n", files));
    say_fitted(stdout, fmt::format("look      parhelion report {0} (a page of it), parhelion cite {0} (what to cite)\n", prefix));
    if (result.trajectory.empty() || !std::filesystem::exists(result.trajectory)) { return; }
    say(stdout, "python    import MDAnalysis as mda; u = mda.Universe(\"{}.gro\", \"{}\")\n", prefix, result.trajectory);
}

} // namespace

void print_summary(const RunResult& result, const std::string& prefix)
{
    const RunSummary& summary = result.summary;
    const PlanSummary& plan = result.plan;
    const char* const label = result.end == RunEnd::Stopped ? "stopped" : "done";
    if (result.minimised)
    {
        say_fitted(stdout,
                   fmt::format("\n{:<10}{} steps in {:.2f} s, {}\n", label, summary.steps, summary.wall_s, force_text(summary)));
        print_files(result, prefix);
        return;
    }
    const std::string where = plan.on_gpu
                                  ? plan.kernel
                                  : fmt::format("{}{} thread{}", plan.ranks == 1 ? "" : fmt::format("{} ranks of ", plan.ranks),
                                                plan.threads, plan.threads == 1 ? "" : "s");
    say_fitted(stdout,
               fmt::format("\n{:<10}{} steps in {:.2f} s: {:.2f} ns/day, {:.1f} us/step on {}; host load {:.3f} cores\n", label,
                           summary.steps, summary.wall_s, summary.ns_per_day, summary.us_per_step, where, summary.host_load));
    print_phases(summary);
    if (std::isfinite(summary.drift)) { say(stdout, "drift     {} of the conserved quantity\n", drift_text(summary)); }
    say_fitted(stdout, result.averages);
    print_files(result, prefix);
}

} // namespace parhelion
