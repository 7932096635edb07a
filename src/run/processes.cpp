// SPDX-License-Identifier: Apache-2.0
#include "run/processes.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/threads.hpp"
#include "comm/transports/plugin_files.hpp"
#include "run/output_paths.hpp"

#include <algorithm>

namespace parhelion {

void add_last_line(const std::string& log, const std::string& text)
{
    try
    {
        append_line(log, text);
    }
    catch (const SystemError&)
    {
        // Ignored: most likely the error that `text` describes is also why the log cannot be written, and it is told anyway.
    }
}

OptionFacts facts_of(const RunRequest& request, const Launch* launch)
{
    OptionFacts facts;
    facts.placement = request.placement;
    facts.connection = request.connection;
    facts.has_trace = !request.output.trace.empty();
    facts.processes = request.placement.processes;
    if (launch != nullptr) { facts.launcher = launch->launcher, facts.processes = launch->processes; }
    return facts;
}

ProcessOptions process_options(const OptionFacts& facts)
{
    ProcessOptions result;
    result.processes = facts.processes;
    result.ranks = ranks_of(facts);
    result.deadline = facts.placement.comm_timeout;
    return result;
}

void emulate_nodes(const RunRequest& request, SimulationOptions& engine)
{
    const NicEmulation* const nodes = request.connection.emulated_nodes();
    if (nodes == nullptr) { return; }
    engine.ranks = nodes->ranks();
    engine.network_text = std::string(transport_name(engine.transport)) + ", " + nodes->text();
    if (request.placement.wants_gpus())
    {
        engine.halo = HaloMethod::StagedFused; // the only method that works between nodes
        const int processes = request.placement.processes, gpus_of_process = (engine.gpus + processes - 1) / processes;
        engine.proxies = std::max(1, gpus_of_process) + 1; // one more core, for the HostWatch
        return;
    }
    engine.device = Device::Cpu;
    engine.proxies = nodes->nodes;
    engine.network = [nodes = *nodes](int ranks) {
        return nic_emulation_network(std::make_unique<ThreadsBootstrap>(ranks), nodes);
    };
}

void use_nvshmem(SimulationOptions& engine)
{
    if (engine.transport != TransportKind::Nvshmem || (!engine.nodes && engine.are_on_one_host())) { return; }
    if (!engine.halo) { engine.halo = HaloMethod::StagedFused; }
    engine.proxies = 2; // one for the GPU, one for the helper that watches on the host
}

int run_and_log(ProcessOptions processes, const std::string& log, const std::function<int(std::unique_ptr<Bootstrap>)>& body)
{
    ProcessFailure failure;
    processes.on_failure = [&](const ProcessFailure& first) { failure = first; };
    try
    {
        return run_in_processes(processes, body);
    }
    catch (const InputError&)
    {
        throw; // no step has begun
    }
    catch (const std::exception& error)
    {
        if (failure.process != 0 || !failure.was_thrown) { add_last_line(log, error.what()); }
        throw;
    }
}

} // namespace parhelion
