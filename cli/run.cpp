// SPDX-License-Identifier: Apache-2.0
// `parhelion run`: read, check, plan, simulate, report.
#include "commands.hpp"
#include "describe.hpp"
#include "io/gro.hpp"
#include "run_files.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <thread>

namespace parhelion {

namespace {

// Raised by SIGINT and SIGTERM: the run ends after the step it is in.
std::atomic<bool> stop_requested{false};
extern "C" void request_stop(int) { stop_requested.store(true, std::memory_order_relaxed); }

// Raises stop_requested after some time; ends with its scope.
class Deadline
{
public:
    explicit Deadline(double hours)
    {
        if (hours < 0) { return; }
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(hours * 3600);
        thread_ = std::jthread([end](const std::stop_token& done) {
            while (!done.stop_requested() && std::chrono::steady_clock::now() < end) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }
            if (!done.stop_requested()) { stop_requested.store(true, std::memory_order_relaxed); }
        });
    }

private:
    std::jthread thread_;
};

std::int64_t steps_asked_for(const RunOptions& options, const RunParameters& parameters)
{
    if (options.steps != -2)
    {
        if (options.steps < 0) { throw InputError("E003", {}, "--steps must not be negative."); }
        return options.steps;
    }
    return options.ns >= 0 ? std::llround(options.ns * 1000 / parameters.dt) : parameters.steps;
}

RunReport make_report(const RunOptions& options, const RunSummary& summary, const PlanSummary& plan, std::int64_t atoms, double dt,
                      NamedList<RunReport::Spread> energies)
{
    RunReport report;
    report.atoms = atoms;
    report.steps = summary.steps;
    report.dt_ps = dt;
    report.ns_per_day = summary.ns_per_day;
    report.us_per_step = summary.us_per_step;
    report.wall_s = summary.wall_s;
    report.precision = options.engine.precision + (options.engine.reproducible ? " reproducible" : "");
    report.threads = plan.threads;
    report.repartition_interval = plan.list_interval;
    report.pairlist = {{"cutoff_nm", plan.list_cutoff}, {"buffer_nm", plan.buffer}, {"tested_pairs_per_atom", summary.pairs_per_atom}};
    report.phases = summary.phases;
    report.energies = std::move(energies);
    report.conserved_drift_kT_per_ns_per_atom = summary.drift;
    report.version = {{"program", version_text()}, {"machine", describe_machine()}, {"kernel", plan.kernel}};
    return report;
}

void print_summary(const RunSummary& summary, const PlanSummary& plan, bool minimised)
{
    fmt::print("\n{} steps in {:.2f} s", summary.steps, summary.wall_s);
    if (minimised)
    {
        fmt::print(", largest force {:.4g} kJ/mol/nm{}\n", summary.largest_force, summary.converged ? "" : " (not converged)");
        return;
    }
    fmt::print(": {:.2f} ns/day, {:.1f} us/step on {} thread{}\n", summary.ns_per_day, summary.us_per_step, plan.threads, plan.threads == 1 ? "" : "s");
    double accounted = 0;
    for (const auto& [phase, us] : summary.phases)
    {
        accounted += us;
        if (us > 0) { fmt::print("  {:<12} {:10.1f} us/step {:5.1f} %\n", phase, us, 100 * us / summary.us_per_step); }
    }
    if (summary.us_per_step > 0)
    {
        const double rest = summary.us_per_step - accounted;
        fmt::print("  {:<12} {:10.1f} us/step {:5.1f} %\n", "rest", rest, 100 * rest / summary.us_per_step);
    }
    if (std::isfinite(summary.drift)) { fmt::print("drift of the conserved quantity: {:+.4f} kT/ns/atom\n", summary.drift); }
}

} // namespace

RunEnd command_run(const RunOptions& options)
{
    Diagnostics diagnostics;
    const auto start = std::chrono::steady_clock::now();
    LoadedInput input = load_checked(options.input, diagnostics);
    const double load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::int64_t steps = steps_asked_for(options, input.parameters);
    const RunParameters parameters = input.parameters;
    const Topology topology = input.system.topology;
    const std::string title = input.system.title;
    const bool minimising = parameters.integrator == Integrator::SteepestDescent;

    RunFiles files({options.prefix, options.engine.precision == "double" ? Precision::Double : Precision::Mixed, options.quiet}, input.system,
                   parameters);
    const std::string about = fmt::format("{}\n{}\n{}", version_text(), describe_machine(), describe_system(input.system));
    files.log().line(about);
    for (const Warning& warning : diagnostics.warnings) { files.log().warning(warning); }
    for (const Warning& note : diagnostics.notes)
    {
        files.log().line("note: " + note.text());
        if (options.verbose) { fmt::print("note: {}\n", note.text()); }
    }
    Simulation simulation(std::move(input.system), std::move(input.parameters), simulation_options(options.engine));
    const PlanSummary plan = simulation.plan();
    const std::string planned = fmt::format("{}read in {:.2f} s; seed {}\n", describe_plan(plan), load_s, plan.seed);
    files.log().line(planned);
    if (!options.quiet) { fmt::print("{}{}", about, planned); }
    std::fflush(stdout);

    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
    const Deadline deadline(options.hours);
    files.start();
    RunSummary summary;
    try { summary = simulation.run(steps, files, stop_requested); }
    catch (const PhysicsError& error)
    {
        const Frame good = simulation.last_good_frame();
        const std::string path = options.prefix + ".last-good.gro";
        write_gro(path, topology, fmt::format("{}, step {}, the last good frame", title, good.step), good.box, good.x, good.v, 6);
        files.message(error.what());
        files.close();
        throw PhysicsError(error.step(), fmt::format("{}\nLast good frame: step {}, in {}", error.what(), good.step, path));
    }
    const Frame last = simulation.frame();
    write_gro(options.prefix + ".gro", topology, title, last.box, last.x, minimising ? std::vector<Vec3<double>>{} : last.v, 3);
    files.close();
    const RunReport report = make_report(options, summary, plan, topology.atom_count(), parameters.dt, files.averages());
    write_report(report, options.prefix + ".report.json");
    files.log().line(fmt::format("\n{} steps, {:.2f} ns/day, drift {:+.5f} kT/ns/atom", summary.steps, summary.ns_per_day, summary.drift));
    files.log().close();
    if (options.json) { fmt::print("{}\n", to_json(report)); }
    else if (!options.quiet) { print_summary(summary, plan, minimising); }
    return summary.end;
}

} // namespace parhelion
