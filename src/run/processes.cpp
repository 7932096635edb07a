// SPDX-License-Identifier: Apache-2.0
#include "run/processes.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/threads.hpp"
#include "comm/transports/plugin.hpp"
#include "engine/choose_gpus.hpp"
#include "run/output_paths.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

bool is_of_gpus(TransportKind transport) { return transport == TransportKind::Peer || transport == TransportKind::Nvshmem; }

[[noreturn]] void refuse(const std::string& why) { throw InputError("E010", {}, why); }

void expect_whole_nodes(const NicEmulation& nics, const ProcessOptions& processes)
{
    for (int process = 0; process < processes.processes; ++process)
    {
        if (ranks_of_process(process, processes).first % nics.ranks_per_node == 0) { continue; }
        refuse(fmt::format(
            "{} processes do not have whole nodes of {}. Give as many --processes as nodes, or fewer that divide them.",
            processes.processes, nics.text()));
    }
}

} // namespace

void add_last_line(const std::string& log, const std::string& text)
{
    try
    {
        append_line(log, text);
    }
    catch (const SystemError&)
    {
        // What is in its way is most likely what `text` says.
    }
}

ProcessOptions process_options(const RunRequest& request, const SimulationOptions& engine, int processes)
{
    ProcessOptions result;
    result.processes = processes;
    result.ranks = engine.ranks_asked_for() == 0 ? result.processes : engine.ranks_asked_for();
    result.deadline = engine.comm_timeout;
    const bool on_gpus = request.placement.wants_gpus();
    if (on_gpus && engine.ranks_asked_for() == 0) { result.ranks = std::max(result.processes, engine.gpus); }
    if (on_gpus && engine.halo != HaloMethod::Direct && engine.halo != HaloMethod::StagedFused)
    {
        refuse("several processes with GPUs need a halo method that no host takes part in. Use --halo direct or staged-fused.");
    }
    const bool has_as_many_gpus = engine.gpus == 0 || engine.gpus == result.processes;
    if (request.connection.transport == TransportKind::Nvshmem && (result.ranks != result.processes || !has_as_many_gpus))
    {
        refuse(
            "--transport nvshmem has one rank and one GPU for each process. Give --processes alone, or --gpus the same number.");
    }
    if (result.ranks < result.processes)
    {
        refuse(
            fmt::format("{} processes are more than the {} rank{} (each process has one at least). Give more --ranks, or fewer "
                        "processes.",
                        result.processes, result.ranks, result.ranks == 1 ? "" : "s"));
    }
    if (!request.output.trace.empty())
    {
        refuse("--trace sees the ranks of one process alone. Use one process, or leave --trace out.");
    }
    return result;
}

void expect_several_ranks(const RunParameters& parameters)
{
    if (is_one_ranks(parameters)) { refuse("several processes need several ranks, and a minimisation is one rank's. Use one."); }
}

void expect_own_transport(const RunRequest& request)
{
    if (request.connection.trust_network)
    {
        refuse(
            "--trust-network is for processes that a launcher has started (others have no network between them). Leave it out.");
    }
    const TransportKind transport = request.connection.transport;
    const char* const name = transport_name(transport);
    if (is_of_gpus(transport))
    {
        if (request.placement.processes > 1 && request.placement.wants_gpus()) { return; }
        refuse(fmt::format("--transport {} is for GPUs of several processes. Give --processes as well, and --gpus or --device "
                           "gpu, or leave it out.",
                           name));
    }
    if (emulated_nodes(request) != nullptr) { return; }
    if (transport != TransportKind::Auto && transport != TransportKind::Tcp && plugins_of_launcher(name).empty())
    {
        refuse(
            fmt::format("--transport {} is for processes that a launcher of its library has started (mpirun, mpiexec, oshrun). "
                        "Start this one so, or leave it out.",
                        name));
    }
}

void expect_transport_of_launcher(const RunRequest& request)
{
    const TransportKind transport = request.connection.transport;
    const bool has_gpus = request.placement.wants_gpus();
    if (is_of_gpus(transport) && !has_gpus)
    {
        refuse(fmt::format("--transport {} is for GPUs. Give --device gpu as well.", transport_name(transport)));
    }
    if (has_gpus && (transport != TransportKind::Nvshmem || request.placement.gpus > 0))
    {
        refuse(
            "GPUs of processes that a launcher has started reach each other in NVSHMEM's memory. Give --device gpu --transport "
            "nvshmem, without --gpus; for GPUs of one host start one process; or use --device cpu.");
    }
    if (emulated_nodes(request) == nullptr) { return; }
    refuse(
        "--transport nic-emulation is for one host, and a launcher has started this process. Start one process, with --processes "
        "if there are to be several.");
}

const NicEmulation* emulated_nodes(const RunRequest& request)
{
    const std::optional<NicEmulation>& nodes = request.connection.nodes;
    const TransportKind transport = request.connection.transport;
    const bool are_asked_for = transport == TransportKind::NicEmulation;
    if (nodes && transport == TransportKind::Nvshmem) { return nullptr; }
    if (are_asked_for == nodes.has_value()) { return nodes ? &*nodes : nullptr; }
    refuse(are_asked_for ? "--transport nic-emulation needs --nodes, as 2x4: two nodes of four ranks."
                         : "--nodes is of --transport nic-emulation and nvshmem alone. Give both, or neither.");
}

void emulate(const NicEmulation& nodes, const RunRequest& request, SimulationOptions& engine)
{
    if (engine.ranks_asked_for() == 0) { engine.ranks = nodes.ranks(); }
    if (engine.ranks_asked_for() != nodes.ranks())
    {
        refuse(fmt::format("--nodes has {} ranks, and {} are asked for. Leave --ranks out.", nodes.ranks(),
                           engine.ranks_asked_for()));
    }
    const int processes = request.placement.processes;
    if (processes > 1) { expect_whole_nodes(nodes, process_options(request, engine, processes)); }
    engine.transport = "nic-emulation, " + nodes.text();
    if (request.placement.wants_gpus())
    {
        if (!request.placement.halo) { engine.halo = HaloMethod::StagedFused; }
        expect_to_leave_nodes(engine.halo, engine.pme);
        engine.gpu_nodes = nodes;
        const int gpus_of_process = (engine.gpus + processes - 1) / processes;
        engine.proxies = std::max(1, gpus_of_process) + 1; // and a core for the watch on the host
        return;
    }
    engine.device = Device::Cpu;
    engine.proxies = nodes.nodes;
    engine.network = [nodes](int ranks) { return nic_emulation_network(std::make_unique<ThreadsBootstrap>(ranks), nodes); };
}

void use_nvshmem(const RunRequest& request, SimulationOptions& engine)
{
    if (request.connection.transport != TransportKind::Nvshmem) { return; }
    engine.gpu_memory = GpuMemory::Nvshmem;
    if (const std::optional<NicEmulation>& nodes = request.connection.nodes)
    {
        if (nodes->ranks() != engine.ranks)
        {
            refuse(fmt::format("--nodes has {} ranks, and there are {}. Give a shape of as many.", nodes->ranks(), engine.ranks));
        }
        engine.ranks_of_domain = nodes->ranks_per_node;
    }
    else if (engine.are_on_one_host()) { return; }
    if (!request.placement.halo) { engine.halo = HaloMethod::StagedFused; }
    engine.proxies = 2; // that of the GPU, and the watch on the host
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
        throw; // nothing has begun
    }
    catch (const std::exception& error)
    {
        if (failure.process != 0 || !failure.was_thrown) { add_last_line(log, error.what()); }
        throw;
    }
}

} // namespace parhelion
