// SPDX-License-Identifier: Apache-2.0
#include "run_summary.hpp"

#include "run/summary.hpp"
#include "say.hpp"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace parhelion {

namespace {

std::string size_text(std::uintmax_t bytes)
{
    const auto b = static_cast<double>(bytes);
    return b < 1e6   ? fmt::format("{:.1f} kB", b * 1e-3)
           : b < 1e9 ? fmt::format("{:.1f} MB", b * 1e-6)
                     : fmt::format("{:.2f} GB", b * 1e-9);
}

// What there is to look at, and how.
void print_files(const RunResult& result, const std::string& prefix)
{
    std::string files;
    for (const char* ending : {".xtc", ".trr", ".edr", ".gro", ".cpt", ".log", ".report.json"})
    {
        const std::string path = prefix + ending;
        std::error_code absent;
        const std::uintmax_t bytes = std::filesystem::file_size(path, absent);
        if (!absent) { files += fmt::format("{}{} {}", files.empty() ? "" : ", ", path, size_text(bytes)); }
    }
    say(stdout, "files     {}\n", files);
    if (result.trajectory.empty() || !std::filesystem::exists(result.trajectory)) { return; }
    say(stdout, "python    import MDAnalysis as mda; u = mda.Universe(\"{}.gro\", \"{}\")\n", prefix, result.trajectory);
}

} // namespace

void print_summary(const RunResult& result, const std::string& prefix)
{
    const RunSummary& summary = result.summary;
    const PlanSummary& plan = result.plan;
    say(stdout, "\n{} steps in {:.2f} s", summary.steps, summary.wall_s);
    if (result.minimised)
    {
        say(stdout, ", {}\n", force_text(summary));
        print_files(result, prefix);
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
    say(stdout, "{}", result.averages);
    print_files(result, prefix);
}

} // namespace parhelion
