// SPDX-License-Identifier: Apache-2.0
#include "run/run.hpp"

#include "base/error.hpp"
#include "comm/launch.hpp"
#include "engine/constraint_remark.hpp"
#include "engine/drift_remark.hpp"
#include "io/gro.hpp"
#include "io/mdp.hpp"
#include "io/run_identity.hpp"
#include "run/backup.hpp"
#include "run/describe.hpp"
#include "run/files.hpp"
#include "run/launched.hpp"
#include "run/output_paths.hpp"
#include "run/processes.hpp"
#include "run/start.hpp"
#include "run/summary.hpp"
#include "run/version.hpp"
#include "trace/chrome_trace.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

// Raises `stop` after some time; ends with its scope.
class Deadline
{
public:
    Deadline(std::optional<double> hours, std::atomic<bool>& stop)
    {
        if (!hours) { return; }
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(*hours * 3600);
        thread_ = std::jthread([end, &stop](const std::stop_token& done) {
            while (!done.stop_requested() && std::chrono::steady_clock::now() < end)
            {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }
            if (!done.stop_requested()) { stop.store(true, std::memory_order_relaxed); }
        });
    }

private:
    std::jthread thread_;
};

std::atomic<std::atomic<bool>*> stop_of_processes{nullptr};
extern "C" void raise_stop_of_processes(int)
{
    if (std::atomic<bool>* const stop = stop_of_processes.load()) { stop->store(true, std::memory_order_relaxed); }
}

// While it lives SIGTERM raises `stop`, unless somebody else catches or ignores it. A process that is forked meanwhile has it so,
// too.
class StopBySigterm
{
public:
    explicit StopBySigterm(std::atomic<bool>& stop)
    {
        stop_of_processes = &stop;
        before_ = std::signal(SIGTERM, raise_stop_of_processes);
        if (before_ != SIG_DFL) { std::signal(SIGTERM, before_); }
    }
    ~StopBySigterm()
    {
        std::signal(SIGTERM, before_);
        stop_of_processes = nullptr;
    }
    StopBySigterm(const StopBySigterm&) = delete;
    StopBySigterm& operator=(const StopBySigterm&) = delete;

private:
    void (*before_)(int);
};

// What a reader of the log wants to know years later. Paths as they were given, values as they are in use.
void log_input(const InputFiles& files, const RunParameters& parameters, Log& log)
{
    std::vector<std::pair<std::string, std::string>> entries = {
        {"started", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)))}};
    const std::pair<const char*, const std::filesystem::path&> named[] = {{"parameters", files.mdp},
                                                                          {"structure", files.structure},
                                                                          {"topology", files.topology},
                                                                          {"start", files.hand_over},
                                                                          {"restraint reference", files.restraint_reference},
                                                                          {"index groups", files.index}};
    for (const auto& [name, path] : named)
    {
        if (!path.empty()) { entries.emplace_back(name, path.string()); }
    }
    log.section("Input", entries);
    log.line("\nParameters\n" + mdp_text(parameters));
}

void tell_how_it_begins(RunFiles& files, const std::optional<Checkpoint>& continued, const std::string& remark,
                        const RunParameters& parameters, const NamedList<std::string>& identity, std::int64_t steps)
{
    if (!remark.empty()) { files.warning("note: " + remark); }
    if (continued)
    {
        const std::int64_t step = continued->state.step;
        files.message(fmt::format("continuing at step {} ({:.6g} ps)", step,
                                  parameters.start_time + static_cast<double>(step) * parameters.dt));
        const std::string changed = output_difference(continued->run, identity);
        if (!changed.empty()) { files.message("output changes from here on: " + changed); }
    }
    if (steps == 0)
    {
        files.warning("note: no step is taken: nsteps is 0, as in GROMACS where the .mdp does not give it. Say how many with "
                      "nsteps, --steps or --ns.");
    }
    if (parameters.integrator == Integrator::SteepestDescent)
    {
        files.log().line("A minimisation writes no checkpoints: it can start again from any configuration.");
    }
}

void log_diagnostics(const Diagnostics& diagnostics, Log& log)
{
    for (const Warning& warning : diagnostics.warnings) { log.warning(warning); }
    for (const Warning& note : diagnostics.notes) { log.line("note: " + note.text()); }
}

// What the parts of a run have in common.
struct Job
{
    const RunRequest& request;
    const RunParameters parameters;
    const Topology topology;
    const std::string title;
    const std::int64_t steps; // asked for; negative: no end

    const std::string& prefix() const { return request.output.prefix; }
    bool minimises() const { return parameters.integrator == Integrator::SteepestDescent; }
};

// Writes the last files of a run. With a checkpoint nothing is lost if there is no room for the rest; the one that says that the
// run is complete comes last.
void write_end(const Job& job, Simulation& simulation, RunFiles& files, const RunReport& report, RunEnd end, const Frame& last)
{
    const bool minimised = job.minimises(), is_done = end == RunEnd::Done;
    if (!minimised) { files.checkpoint(simulation.saved_state()); }
    write_gro(job.prefix() + ".gro", job.topology, job.title, last.box, last.x, last.v, 6);
    write_report(report, job.prefix() + ".report.json");
    if (!minimised && is_done) { files.checkpoint_at_end(simulation.saved_state(), last.step); }
    files.close();
    const std::string& trace = job.request.output.trace;
    if (trace.empty()) { return; }
    const std::string kept = move_to_backup(trace);
    if (!kept.empty()) { files.message("kept: " + kept); }
    write_chrome_trace(trace, simulation.timelines());
}

// Keeps the last good frame, says where, and passes the error on; nothing that fails on the way takes its place.
[[noreturn]] void end_blown_up(const PhysicsError& error, const Job& job, Simulation& simulation, RunFiles& files)
{
    const std::string& prefix = job.prefix();
    files.log_failure(error.what());
    std::string text = error.what();
    const auto attempt = [&](auto&& work) {
        try
        {
            work();
        }
        catch (const CommError&)
        {
            throw; // nothing is left to look at
        }
        catch (const SystemError& failure)
        {
            text += fmt::format("\nE601 {}", failure.what());
        }
    };
    attempt([&] {
        if (dynamic_cast<const GridError*>(&error) == nullptr) { return; } // else the checkpoint before is better
        files.checkpoint(simulation.saved_state());
        text += fmt::format("\nThe same command with fewer ranks, or another grid, goes on from {}.cpt", prefix);
    });
    attempt([&] {
        const Frame good = simulation.last_good_frame();
        const std::string path = prefix + ".last-good.gro";
        const std::string title = fmt::format("{}, step {}, the last good frame", job.title, good.step);
        write_gro(path, job.topology, title, good.box, good.x, good.v, 6);
        text += fmt::format("\nLast good frame: step {}, in {}", good.step, path);
    });
    attempt([&] { files.close(); });
    throw PhysicsError(error.step(), text);
}

// Runs, and writes what a run leaves behind.
RunResult simulate(const Job& job, std::int64_t steps_left, Simulation& simulation, RunFiles& files,
                   const std::atomic<bool>& stop)
{
    try
    {
        const RunParameters& p = job.parameters;
        RunResult result;
        files.watch_exclusions(job.topology);
        result.summary = simulation.run(steps_left, files, stop);
        result.report = make_report(job.request.numerics, result.summary, simulation.plan(), job.topology.atom_count(), p.dt,
                                    files.averages());
        Frame last = simulation.frame();
        files.expect_exclusions_near(last);
        if (job.minimises()) { last.v.clear(); } // they have no meaning
        result.reached = last.step;
        result.end = result.summary.end;
        result.minimised = job.minimises();
        result.report.steps_of_whole_run = result.reached - p.first_step;
        files.show_progress(result.reached - p.first_step, job.steps);
        write_end(job, simulation, files, result.report, result.summary.end, last);
        return result;
    }
    catch (const PhysicsError& error)
    {
        end_blown_up(error, job, simulation, files);
    }
    catch (const PeerAborted&)
    {
        throw; // of a rank elsewhere, which says why
    }
    catch (const std::exception& error)
    {
        files.log_failure(error.what());
        throw;
    }
}

// The last words, in the log and to the observer.
void tell_end(const Job& job, RunResult& result, const PlanSummary& plan, RunFiles& files, RunObserver& observer)
{
    files.log().line(summary_line(result.summary, job.minimises()));
    if (const std::string remark = constraint_remark(result.summary); !remark.empty()) { files.warning("warning: " + remark); }
    if (const std::string drift = drift_remark(result.summary, job.parameters); !drift.empty()) { files.warning(drift); }
    if (result.end == RunEnd::Stopped)
    {
        files.message(job.minimises() ? fmt::format("stopped; {0}.gro is how far it got: start again from it with -c {0}.gro and "
                                                    "another -o",
                                                    job.prefix())
                                      : fmt::format("stopped at step {}; run the same command to continue", result.reached));
    }
    files.log().close();
    result.plan = plan;
    result.averages = files.averages_text();
    result.trajectory = files.trajectory();
    observer.ended(result);
}

// All of a run, or what its first process does.
RunResult run_and_write(Ready&& ready, RunObserver& observer, std::atomic<bool>& stop)
{
    const RunOutputs& output = ready.request.output;
    LoadedInput& input = ready.input;
    const Job job{ready.request, input.parameters, input.system.topology, input.system.title, ready.steps};
    const RunParameters& parameters = job.parameters;
    std::optional<Checkpoint>& continued = ready.continued;
    RunFiles files({output.prefix, ready.engine.precision, output.checkpoint_s}, input.system, parameters, ready.identity,
                   std::move(ready.checkpoints), continued ? &*continued : nullptr, observer);
    const std::string about = fmt::format("{}\n{}\n{}{}{}{}", version_text(), describe_machine(), describe_system(input.system),
                                          describe_run(parameters, job.steps), describe_start(input.hand_over),
                                          describe_output(parameters, output.prefix, output.checkpoint_s));
    Simulation simulation(std::move(input.system), std::move(input.parameters), ready.engine, ready.start());
    input.hand_over.reset(); // memory
    const std::string planned = fmt::format("{}read in {:.2f} s; {}\n", describe_plan(simulation.plan()), ready.load_s,
                                            describe_seeds(simulation.plan()));

    observer.prepared();
    const Deadline deadline(ready.request.length.hours, stop);
    // The run is possible: now it may take the place of an earlier one.
    expect_writable(output.trace);
    const std::string kept = continued ? "" : keep_outputs(output.prefix);
    files.start();
    files.log().line((continued ? "\n" : "") + about);
    log_input(ready.request.input.files, parameters, files.log());
    log_diagnostics(ready.diagnostics, files.log());
    observer.notes(ready.diagnostics.notes);
    files.log().line(planned);
    observer.begins({about + planned, simulation.plan(), job.minimises() ? 0 : parameters.dt,
                     files.first_step() - parameters.first_step, job.steps});
    if (!kept.empty()) { files.message(kept); }
    tell_how_it_begins(files, continued, ready.remark, parameters, ready.identity, job.steps);
    if (const std::string remark = helpers_remark(simulation.plan()); !remark.empty()) { files.warning("note: " + remark); }
    continued.reset(); // memory

    RunResult result = simulate(job, ready.steps_left, simulation, files, stop);
    tell_end(job, result, simulation.plan(), files, observer);
    return result;
}

// The part of a process that does not write: it computes.
RunResult run_silently(Ready&& ready, const std::atomic<bool>& stop)
{
    Simulation simulation(std::move(ready.input.system), std::move(ready.input.parameters), ready.engine, ready.start());
    ready.continued.reset(); // memory
    Observer silent;
    RunResult result;
    result.end = simulation.run(ready.steps_left, silent, stop).end;
    return result;
}

RunResult result_of_complete(const Ready& ready)
{
    RunResult result;
    result.was_complete = true;
    result.reached = std::max(ready.continued->reached, ready.continued->state.step);
    return result;
}

void spread(Ready& ready, const ProcessOptions& processes)
{
    expect_several_ranks(ready.input.parameters);
    if (!ready.request.placement.wants_gpus()) { ready.engine.device = Device::Cpu; } // auto
    ready.engine.ranks = processes.ranks;
    ready.engine.processes = processes.processes;
    ready.engine.processes_of_host = processes.processes;
}

// Here the launcher is left, and every process goes on with what has been read. The first one writes.
RunResult run_in_several(Ready&& ready, RunObserver& observer, std::atomic<bool>& stop)
{
    const RunRequest& request = ready.request;
    ProcessOptions processes = process_options(request, ready.engine, request.placement.processes);
    const NicEmulation* const nodes = emulated_nodes(request);
    processes.stop = &stop;
    spread(ready, processes);
    use_nvshmem(request, ready.engine);
    ready.input.parameters = with_seeds(std::move(ready.input.parameters), ready.start());
    observer.prepared();
    const StopBySigterm of_launcher(stop);
    RunResult result;
    result.end =
        static_cast<RunEnd>(run_and_log(processes, request.output.prefix + log_ending, [&](std::unique_ptr<Bootstrap> bootstrap) {
            const bool writes = bootstrap->here().first == 0;
            ready.engine.process_of_host = process_of_rank(bootstrap->here().first, processes);
            ready.engine.network = [&](int) {
                return nodes != nullptr && !ready.engine.gpu_nodes ? nic_emulation_network(std::move(bootstrap), *nodes)
                                                                   : shared_memory_network(std::move(bootstrap));
            };
            return static_cast<int>(
                (writes ? run_and_write(std::move(ready), observer, stop) : run_silently(std::move(ready), stop)).end);
        }));
    return result;
}

// One process of a run that somebody else has started.
RunResult run_launched(const RunRequest& request, const Launch& launch, RunObserver& observer, std::atomic<bool>& stop)
{
    expect_transport_of_launcher(request);
    const ProcessOptions processes =
        process_options(request, simulation_options(request.numerics, request.placement), launch.processes);
    LaunchedRun run(request, launch, processes, observer);
    try
    {
        Ready ready = make_ready(request, run.writes() ? RunRole::Writes : RunRole::TakesPart, observer);
        if (ready.is_complete)
        {
            const RunResult result = result_of_complete(ready);
            if (run.writes()) { observer.ended(result); }
            run.agree({}, 0);
            return result;
        }
        run.agree(ready.identity, ready.steps_left);
        spread(ready, processes);
        ready.input.parameters = run.with_seeds_of_first(with_seeds(std::move(ready.input.parameters), ready.start()));
        observer.prepared();
        run.place(ready.engine);
        use_nvshmem(request, ready.engine);
        ready.engine.transport = run.transport();
        ready.engine.network = [&run](int) { return run.network(); };
        return run.writes() ? run_and_write(std::move(ready), observer, stop) : run_silently(std::move(ready), stop);
    }
    catch (...)
    {
        run.end(request.output.prefix + log_ending);
    }
}

} // namespace

RunResult run_simulation(const RunRequest& request, RunObserver& observer, std::atomic<bool>& stop)
{
    const RunLength& length = request.length;
    const auto is_amount = [](double value) { return std::isfinite(value) && value >= 0; };
    PARHELION_EXPECTS(!length.steps || !length.ns);
    PARHELION_EXPECTS(is_amount(length.ns.value_or(0)) && is_amount(length.hours.value_or(0)));
    PARHELION_EXPECTS(is_amount(request.output.checkpoint_s) && !request.output.prefix.empty());
    if (const std::optional<Launch> launch = recognise_launch(own_environment()))
    {
        return run_launched(request, *launch, observer, stop);
    }
    expect_own_transport(request);
    Ready ready = make_ready(request, RunRole::Writes, observer);
    if (ready.is_complete)
    {
        const RunResult result = result_of_complete(ready);
        observer.ended(result);
        return result;
    }
    return request.placement.processes > 1 ? run_in_several(std::move(ready), observer, stop)
                                           : run_and_write(std::move(ready), observer, stop);
}

} // namespace parhelion
