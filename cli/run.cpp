// SPDX-License-Identifier: Apache-2.0
// `parhelion run`: read, check, plan, simulate, report.
#include "commands.hpp"
#include "engine/constraint_remark.hpp"
#include "engine/drift_remark.hpp"
#include "io/backup.hpp"
#include "io/gro.hpp"
#include "io/mdp.hpp"
#include "io/run_identity.hpp"
#include "run/describe.hpp"
#include "run/version.hpp"
#include "run_files.hpp"
#include "run_launched.hpp"
#include "run_processes.hpp"
#include "run_start.hpp"
#include "run_summary.hpp"
#include "say.hpp"
#include "trace/chrome_trace.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <optional>
#include <thread>

namespace parhelion {

namespace {

// Raised by a signal: the run ends within a second and a step, or with the segments that GPUs work on. The second SIGINT ends the
// program.
std::atomic<bool> stop_requested{false};
extern "C" void request_stop(int signal)
{
    stop_requested.store(true, std::memory_order_relaxed);
    if (signal == SIGINT) { std::signal(SIGINT, SIG_DFL); }
}

void stop_on_signals()
{
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) { std::signal(signal, request_stop); }
    if (std::signal(SIGHUP, request_stop) == SIG_IGN) { std::signal(SIGHUP, SIG_IGN); } // nohup
}

// Raises stop_requested after some time; ends with its scope.
class Deadline
{
public:
    explicit Deadline(std::optional<double> hours)
    {
        if (!hours) { return; }
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(*hours * 3600);
        thread_ = std::jthread([end](const std::stop_token& done) {
            while (!done.stop_requested() && std::chrono::steady_clock::now() < end)
            {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }
            if (!done.stop_requested()) { stop_requested.store(true, std::memory_order_relaxed); }
        });
    }

private:
    std::jthread thread_;
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

void say_how_it_begins(RunFiles& files, const std::optional<Checkpoint>& continued, const std::string& remark,
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

void log_diagnostics(const Diagnostics& diagnostics, Log& log, const RunOptions& options)
{
    for (const Warning& warning : diagnostics.warnings) { log.warning(warning); }
    for (const Warning& note : diagnostics.notes)
    {
        log.line("note: " + note.text());
        if (options.verbose) { say(human_output(options), "note: {}\n", note.text()); }
    }
    const std::size_t notes = diagnostics.notes.size();
    if (notes == 0 || options.verbose || options.quiet) { return; }
    say(human_output(options), "{} note{} on the input: see {}.log, or use --verbose\n", notes, notes == 1 ? "" : "s",
        options.prefix);
}

// What the parts of the command have in common.
struct Job
{
    const RunOptions& options;
    const RunParameters parameters;
    const Topology topology;
    const std::string title;
    const std::int64_t steps; // asked for; negative: no end

    bool minimises() const { return parameters.integrator == Integrator::SteepestDescent; }
};

// What a run leaves behind. With a checkpoint nothing is lost if there is no room for the rest; the one that says that the run is
// complete comes last.
void write_end(const Job& job, Simulation& simulation, RunFiles& files, const RunReport& report, RunEnd end, const Frame& last)
{
    const RunOptions& options = job.options;
    const bool minimised = job.minimises(), is_done = end == RunEnd::Done;
    if (!minimised) { files.checkpoint(simulation.saved_state()); }
    write_gro(options.prefix + ".gro", job.topology, job.title, last.box, last.x, last.v, 6);
    write_report(report, options.prefix + ".report.json");
    if (!minimised && is_done) { files.checkpoint_at_end(simulation.saved_state(), last.step); }
    files.close();
    if (options.trace.empty()) { return; }
    const std::string kept = move_to_backup(options.trace);
    if (!kept.empty()) { files.message("kept: " + kept); }
    write_chrome_trace(options.trace, simulation.timelines());
}

// Keeps the last good frame, says where, and passes the error on; nothing that fails on the way takes its place.
[[noreturn]] void end_blown_up(const PhysicsError& error, const Job& job, Simulation& simulation, RunFiles& files)
{
    const std::string& prefix = job.options.prefix;
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

struct Result
{
    RunSummary summary;
    RunReport report;
    std::int64_t reached = 0; // step
};

// Runs, and writes what a run leaves behind.
Result simulate(const Job& job, std::int64_t steps_left, Simulation& simulation, RunFiles& files)
{
    try
    {
        const RunParameters& p = job.parameters;
        Result result;
        files.watch_exclusions(job.topology);
        result.summary = simulation.run(steps_left, files, stop_requested);
        result.report =
            make_report(job.options.engine, result.summary, simulation.plan(), job.topology.atom_count(), p.dt, files.averages());
        Frame last = simulation.frame();
        files.expect_exclusions_near(last);
        if (job.minimises()) { last.v.clear(); } // they have no meaning
        result.reached = last.step;
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

// The last words, in the log and on the terminal.
void say_end(const Job& job, const Result& result, const PlanSummary& plan, RunFiles& files)
{
    const RunOptions& options = job.options;
    files.log().line(summary_line(result.summary, job.minimises()));
    if (const std::string remark = constraint_remark(result.summary); !remark.empty()) { files.warning("warning: " + remark); }
    if (const std::string drift = drift_remark(result.summary, job.parameters); !drift.empty()) { files.warning(drift); }
    if (result.summary.end == RunEnd::Stopped)
    {
        files.message(job.minimises() ? fmt::format("stopped; {0}.gro is how far it got: start again from it with -c {0}.gro and "
                                                    "another -o",
                                                    options.prefix)
                                      : fmt::format("stopped at step {}; run the same command to continue", result.reached));
    }
    files.log().close();
    if (options.json) { say(stdout, "{}", to_json(result.report)); }
    else if (!options.quiet)
    {
        print_summary(result.summary, plan, {options.prefix, files.averages_text(), files.trajectory(), job.minimises()});
    }
}

// All of a run, or what its first process does.
RunEnd run_and_write(Ready&& ready)
{
    const RunOptions& options = ready.options;
    LoadedInput& input = ready.input;
    const Job job{options, input.parameters, input.system.topology, input.system.title, ready.steps};
    const RunParameters& parameters = job.parameters;
    std::optional<Checkpoint>& continued = ready.continued;
    RunFiles files({options.prefix, ready.engine.precision, options.quiet, options.checkpoint_s}, input.system, parameters,
                   ready.identity, std::move(ready.checkpoints), continued ? &*continued : nullptr);
    const std::string about = fmt::format("{}\n{}\n{}{}{}{}", version_text(), describe_machine(), describe_system(input.system),
                                          describe_run(parameters, job.steps), describe_start(input.hand_over),
                                          describe_output(parameters, options.prefix, options.checkpoint_s));
    Simulation simulation(std::move(input.system), std::move(input.parameters), ready.engine, ready.start());
    input.hand_over.reset(); // memory
    const std::string planned = fmt::format("{}read in {:.2f} s; {}\n", describe_plan(simulation.plan()), ready.load_s,
                                            describe_seeds(simulation.plan()));

    stop_on_signals();
    const Deadline deadline(options.hours);
    // The run is possible: now it may take the place of an earlier one.
    expect_writable(options.trace);
    const std::string kept = continued ? "" : keep_outputs(options.prefix);
    files.start();
    files.log().line((continued ? "\n" : "") + about);
    log_input(options.input.files, parameters, files.log());
    log_diagnostics(ready.diagnostics, files.log(), options);
    files.log().line(planned);
    if (!options.quiet) { say(human_output(options), "{}{}", about, planned); }
    std::fflush(stdout);
    if (!kept.empty()) { files.message(kept); }
    say_how_it_begins(files, continued, ready.remark, parameters, ready.identity, job.steps);
    if (const std::string remark = helpers_remark(simulation.plan()); !remark.empty()) { files.warning("note: " + remark); }
    continued.reset(); // memory

    const Result result = simulate(job, ready.steps_left, simulation, files);
    say_end(job, result, simulation.plan(), files);
    return result.summary.end;
}

// What any other process of it does.
RunEnd run_silently(Ready&& ready)
{
    Simulation simulation(std::move(ready.input.system), std::move(ready.input.parameters), ready.engine, ready.start());
    ready.continued.reset(); // memory
    Observer silent;
    return simulation.run(ready.steps_left, silent, stop_requested).end;
}

void spread(Ready& ready, const ProcessOptions& processes)
{
    expect_several_ranks(ready.input.parameters);
    if (!wants_gpus(ready.engine)) { ready.engine.device = Device::Cpu; } // auto
    ready.engine.ranks = processes.ranks;
    ready.engine.processes = processes.processes;
    ready.engine.processes_of_host = processes.processes;
}

// Here the launcher is left, and every process goes on with what has been read. The first one writes.
RunEnd run_in_several(Ready&& ready)
{
    ProcessOptions processes = process_options(ready.options, ready.engine, ready.options.processes);
    const std::optional<NicEmulation> nics = emulated_nics(ready.options);
    processes.stop = &stop_requested;
    spread(ready, processes);
    use_nvshmem(ready.options, ready.engine);
    ready.input.parameters = with_seeds(std::move(ready.input.parameters), ready.start());
    stop_on_signals(); // for all that are forked
    return static_cast<RunEnd>(
        run_and_log(processes, ready.options.prefix + log_ending, [&](std::unique_ptr<Bootstrap> bootstrap) {
            const bool writes = bootstrap->here().first == 0;
            ready.engine.process_of_host = process_of_rank(bootstrap->here().first, processes);
            ready.engine.network = [&](int) {
                return nics && !ready.engine.gpu_nodes ? nic_emulation_network(std::move(bootstrap), *nics)
                                                       : shared_memory_network(std::move(bootstrap));
            };
            return static_cast<int>(writes ? run_and_write(std::move(ready)) : run_silently(std::move(ready)));
        }));
}

// One process of a run that somebody else has started.
RunEnd run_launched(const RunOptions& options, const Launch& launch)
{
    const SimulationOptions engine = simulation_options(options.engine);
    expect_transport_of_launcher(options);
    const ProcessOptions processes = process_options(options, engine, launch.processes);
    LaunchedRun run(options, launch, processes);
    try
    {
        std::optional<Ready> ready = make_ready(options, run.writes() ? Role::Writes : Role::TakesPart);
        run.agree(ready ? ready->identity : NamedList<std::string>(), ready ? ready->steps_left : 0);
        if (!ready) { return RunEnd::Done; }
        spread(*ready, processes);
        ready->input.parameters = run.with_seeds_of_first(with_seeds(std::move(ready->input.parameters), ready->start()));
        stop_on_signals();
        run.place(ready->engine);
        use_nvshmem(options, ready->engine);
        ready->engine.transport = run.transport();
        ready->engine.network = [&run](int) { return run.network(); };
        return run.writes() ? run_and_write(*std::move(ready)) : run_silently(*std::move(ready));
    }
    catch (...)
    {
        run.end(options.prefix + log_ending);
    }
}

} // namespace

RunEnd command_run(const RunOptions& options)
{
    std::signal(SIGPIPE, SIG_IGN); // see say()
    if (const std::optional<Launch> launch = recognise_launch(own_environment())) { return run_launched(options, *launch); }
    expect_own_transport(options);
    std::optional<Ready> ready = make_ready(options, Role::Writes);
    if (!ready) { return RunEnd::Done; }
    return options.processes > 1 ? run_in_several(*std::move(ready)) : run_and_write(*std::move(ready));
}

} // namespace parhelion
