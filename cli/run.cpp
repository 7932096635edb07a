// SPDX-License-Identifier: Apache-2.0
// `parhelion run`: options to a request, signals to a stop. The run itself is made by src/run.
#include "run/run.hpp"
#include "commands.hpp"
#include "run_terminal.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>

namespace parhelion {

namespace {

// Raised by a signal. The second SIGINT ends the program.
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

RunConnection connection(const RunOptions& options)
{
    RunConnection result;
    const auto* const name = std::find(transport_names.begin(), transport_names.end(), options.transport);
    result.transport = static_cast<TransportKind>(name - transport_names.begin()); // checked on the command line
    if (!options.nodes.empty()) { result.nodes = parse_nodes(options.nodes, options.nic); }
    result.trust_network = options.trust_network;
    return result;
}

RunRequest request(const RunOptions& options)
{
    RunRequest result;
    result.input = options.input;
    result.numerics = numerics(options.engine);
    result.placement = placement(options.engine);
    result.placement.processes = options.processes;
    result.connection = connection(options);
    result.length = {options.steps, options.ns, options.hours};
    result.output = {options.prefix, options.checkpoint_s, options.trace, options.fresh};
    result.end_process = end_at_once_by;
    return result;
}

} // namespace

RunEnd command_run(const RunOptions& options)
{
    std::signal(SIGPIPE, SIG_IGN); // see say()
    RunTerminal terminal(options, stop_on_signals);
    return run_simulation(request(options), terminal, stop_requested).end;
}

} // namespace parhelion
