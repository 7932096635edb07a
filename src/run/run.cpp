// SPDX-License-Identifier: Apache-2.0
#include "run/run.hpp"

#include "base/error.hpp"
#include "comm/launch/launch.hpp"
#include "comm/networks/networks.hpp"
#include "engine/constraint_remark.hpp"
#include "engine/drift_remark.hpp"
#include "io/input/gro.hpp"
#include "io/input/mdp.hpp"
#include "io/input/run_identity.hpp"
#include "io/output/amber_restart.hpp"
#include "model/minimisers.hpp"
#include "run/backup.hpp"
#include "run/deadline.hpp"
#include "run/describe.hpp"
#include "run/files.hpp"
#include "run/launched.hpp"
#include "run/methods.hpp"
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
#include <utility>
#include <vector>

namespace parhelion {

namespace {

std::atomic<std::atomic<bool>*> stop_of_processes{nullptr};
extern "C" void raise_stop_of_processes(int)
{
    if (std::atomic<bool>* const stop = stop_of_processes.load()) { stop->store(true, std::memory_order_relaxed); }
}

// Makes SIGTERM raise `stop` for its lifetime, unless the process catches or
// ignores SIGTERM already. Processes that are forked meanwhile inherit this.
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

// Writes to the log the input as a reader needs it years later: paths as they were given, values as they are used.
void log_input(const InputFiles& files, const std::string& title, const RunParameters& parameters, Log& log)
{
    std::vector<std::pair<std::string, std::string>> entries = {
        {"started", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)))}, {"title", title}};
    for (const auto& [what, path] : files_read(files)) { entries.emplace_back(what, path.string()); }
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
    if (is_minimisation(parameters.integrator))
    {
        files.log().line("A minimisation writes no checkpoints: it can start again from any configuration.");
    }
}

void log_diagnostics(const Diagnostics& diagnostics, Log& log)
{
    for (const Warning& warning : diagnostics.warnings) { log.warning(warning); }
    for (const Warning& note : diagnostics.notes) { log.line("note: " + note.text()); }
}

// The data that all stages of a run share.
struct Job
{
    const RunRequest& request;
    const RunParameters parameters;
    const Topology topology;
    const std::string title;
    const std::int64_t steps; // requested steps; negative: the run has no end

    const std::string& prefix() const { return request.output.prefix; }
    bool minimises() const { return is_minimisation(parameters.integrator); }
};

// Writes the last files of a run. A checkpoint comes first, so that nothing is lost
// if the disk is full. The checkpoint that marks the run as complete comes last.
void write_end(const Job& job, Simulation& simulation, RunFiles& files, const RunReport& report, RunEnd end, const Frame& last)
{
    const bool minimised = job.minimises(), is_done = end == RunEnd::Done;
    if (!minimised) { files.checkpoint(simulation.saved_state()); }
    write_gro(job.prefix() + ".gro", job.topology, job.title, last.box, last.x, last.v, 6);
    if (job.request.output.rst7)
    {
        const double time = job.parameters.start_time + static_cast<double>(last.step) * job.parameters.dt;
        write_amber_restart(job.prefix() + ".rst7", {job.title, version_text(), time, last.box, last.x, last.v});
    }
    write_report(report, job.prefix() + ".report.json");
    if (!minimised && is_done) { files.checkpoint_at_end(simulation.saved_state(), last.step); }
    files.close();
    const std::string& trace = job.request.output.trace;
    if (trace.empty()) { return; }
    const std::string kept = move_to_backup(trace);
    if (!kept.empty()) { files.message("kept: " + kept); }
    write_chrome_trace(trace, simulation.timelines());
}

// Saves the last good frame, adds the file's name to the error, and rethrows the error. Later failures do not replace it.
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
            throw; // nothing can be saved
        }
        catch (const SystemError& failure)
        {
            text += fmt::format("\nE601 {}", failure.what());
        }
    };
    attempt([&] {
        if (dynamic_cast<const GridError*>(&error) == nullptr) { return; } // for other errors the earlier checkpoint is better
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

// Runs the steps and writes the final files. Returns the outcome.
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
        if (job.minimises()) { last.v.clear(); } // velocities of a minimisation have no meaning
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
        throw; // another rank failed, and its error says why
    }
    catch (const std::exception& error)
    {
        files.log_failure(error.what());
        throw;
    }
}

// Writes the final lines to the log and the observer.
void tell_end(const Job& job, RunResult& result, const PlanSummary& plan, RunFiles& files, RunObserver& observer)
{
    files.log().line(summary_line(result.summary, job.minimises()));
    if (result.summary.balance) { files.log().line(balance_text(*result.summary.balance)); }
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
    files.end_status(result.end == RunEnd::Done ? RunState::Done : RunState::Stopped);
    result.plan = plan;
    result.averages = files.averages_text();
    result.trajectory = files.trajectory();
    observer.ended(result);
}

// Makes a whole run, or the part of the run's first process.
RunResult run_and_write(Ready&& ready, RunObserver& observer, std::atomic<bool>& stop)
{
    const RunOutputs& output = ready.request.output;
    LoadedInput& input = ready.input;
    const Job job{ready.request, input.parameters, input.system.topology, input.system.title, ready.steps};
    const RunParameters& parameters = job.parameters;
    std::optional<Checkpoint>& continued = ready.continued;
    RunFiles files({output.prefix, ready.engine.precision, output.checkpoint_s, output.h5md}, input.system, parameters,
                   ready.identity, std::move(ready.checkpoints), continued ? &*continued : nullptr, observer);
    const std::string about =
        fmt::format("{}\n{}\n{}{}{}{}", version_text(), describe_machine(), describe_system(input.system),
                    describe_run(parameters, job.steps), describe_start(input.hand_over), describe_output(parameters, output));
    Simulation simulation(std::move(input.system), std::move(input.parameters), ready.engine, ready.start());
    input.hand_over.reset(); // frees memory
    const std::string planned = fmt::format("{}read in {:.2f} s; {}\n", describe_plan(simulation.plan()), ready.load_s,
                                            describe_seeds(simulation.plan()));

    observer.prepared();
    const std::optional<double> hours = ready.request.length.hours;
    const Deadline deadline(hours ? std::optional(*hours * 3600) : std::nullopt, stop);
    // The run is possible. From here on it may replace the files of an earlier run.
    expect_writable(output.trace);
    const std::string kept = continued ? "" : keep_outputs(output);
    files.start(job.steps);
    files.log().line((continued ? "\n" : "") + about + describe_methods(job.topology, parameters));
    log_input(ready.request.input.files, job.title, parameters, files.log());
    log_diagnostics(ready.diagnostics, files.log());
    observer.notes(ready.diagnostics.notes);
    files.log().line(planned);
    observer.begins({about + planned, simulation.plan(), job.minimises() ? 0 : parameters.dt,
                     files.first_step() - parameters.first_step, job.steps});
    if (!kept.empty()) { files.message(kept); }
    tell_how_it_begins(files, continued, ready.remark, parameters, ready.identity, job.steps);
    if (const std::string remark = helpers_remark(simulation.plan()); !remark.empty()) { files.warning("note: " + remark); }
    continued.reset(); // frees memory

    RunResult result = simulate(job, ready.steps_left, simulation, files, stop);
    tell_end(job, result, simulation.plan(), files, observer);
    return result;
}

// Makes the part of a run that a process does which computes and writes no files.
RunResult run_silently(Ready&& ready, const std::atomic<bool>& stop)
{
    Simulation simulation(std::move(ready.input.system), std::move(ready.input.parameters), ready.engine, ready.start());
    ready.continued.reset(); // frees memory
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

void spread(Ready& ready, OptionFacts facts, const ProcessOptions& processes)
{
    facts.is_one_ranks = is_one_ranks(ready.input.parameters);
    expect_to_go_together(facts);
    if (!ready.request.placement.wants_gpus()) { ready.engine.device = Device::Cpu; } // auto means the CPU
    ready.engine.ranks = processes.ranks;
    ready.engine.processes = processes.processes;
    ready.engine.processes_of_host = processes.processes;
}

// The processes of the run continue from here with the input; the process that forks them waits. The first one writes files.
RunResult run_in_several(Ready&& ready, RunObserver& observer, std::atomic<bool>& stop)
{
    const RunRequest& request = ready.request;
    const OptionFacts facts = facts_of(request, nullptr);
    ProcessOptions processes = process_options(facts);
    // Between GPUs the engine itself emulates the network.
    const NicEmulation* const nodes = request.placement.wants_gpus() ? nullptr : request.connection.emulated_nodes();
    processes.stop = &stop;
    spread(ready, facts, processes);
    use_nvshmem(ready.engine);
    ready.input.parameters = with_seeds(std::move(ready.input.parameters), ready.start());
    observer.prepared();
    const StopBySigterm of_launcher(stop);
    RunResult result;
    result.end =
        static_cast<RunEnd>(run_and_log(processes, request.output.prefix + log_ending, [&](std::unique_ptr<Bootstrap> bootstrap) {
            const bool writes = bootstrap->here().first == 0;
            ready.engine.process_of_host = process_of_rank(bootstrap->here().first, processes);
            ready.engine.network = [&](int) {
                return nodes != nullptr ? nic_emulation_network(std::move(bootstrap), *nodes)
                                        : shared_memory_network(std::move(bootstrap));
            };
            return static_cast<int>(
                (writes ? run_and_write(std::move(ready), observer, stop) : run_silently(std::move(ready), stop)).end);
        }));
    return result;
}

// Makes the part of one process in a run that a launcher started.
RunResult run_launched(const RunRequest& request, const Launch& launch, RunObserver& observer, std::atomic<bool>& stop)
{
    const OptionFacts facts = facts_of(request, &launch);
    const ProcessOptions processes = process_options(facts);
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
        spread(ready, facts, processes);
        ready.input.parameters = run.with_seeds_of_first(with_seeds(std::move(ready.input.parameters), ready.start()));
        observer.prepared();
        run.place(ready.engine);
        use_nvshmem(ready.engine);
        ready.engine.network_text = run.transport();
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
    const std::optional<Launch> launch = recognise_launch(own_environment());
    expect_to_go_together(facts_of(request, launch ? &*launch : nullptr));
    if (launch) { return run_launched(request, *launch, observer, stop); }
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
