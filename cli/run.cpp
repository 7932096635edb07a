// SPDX-License-Identifier: Apache-2.0
// `parhelion run`: turns options into a run request, and signals into a stop. src/run makes the run itself.
#include "run/run.hpp"
#include "comm/launch/launch.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "run/imd_observer.hpp"
#include "run_terminal.hpp"

#include <atomic>
#include <csignal>

namespace parhelion {

namespace {

// Set by a signal. The second SIGINT ends the program.
std::atomic<bool> stop_requested{false};
extern "C" void request_stop(int signal)
{
    stop_requested.store(true, std::memory_order_relaxed);
    if (signal == SIGINT) { std::signal(SIGINT, SIG_DFL); }
}

void stop_on_signals()
{
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) { std::signal(signal, request_stop); }
    if (std::signal(SIGHUP, request_stop) == SIG_IGN) { std::signal(SIGHUP, SIG_IGN); } // SIGHUP stays ignored under nohup
}

// Returns whether this is the first of the processes that a launcher has started. Its observer gets the events of steps.
bool writes()
{
    const std::optional<Launch> launch = recognise_launch(own_environment());
    return !launch || launch->process == 0;
}

} // namespace

int command_run(const RunOptions& options)
{
    std::signal(SIGPIPE, SIG_IGN); // say() explains why
    if (!options.folders.empty()) { return command_run_many(options, stop_on_signals, stop_requested); }
    RunTerminal terminal(options, stop_on_signals);
    const auto code_of = [](const RunResult& result) { return result.end == RunEnd::Stopped ? exit_stopped : exit_done; };
    if (!options.imd || !writes()) { return code_of(run_simulation(options.request, terminal, stop_requested)); }
    ImdServer server(*options.imd);
    ImdObserver observer(terminal, server, options.request.output.stream_every, stop_requested);
    return code_of(run_simulation(options.request, observer, stop_requested));
}

} // namespace parhelion
