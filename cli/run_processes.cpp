// SPDX-License-Identifier: Apache-2.0
#include "run_processes.hpp"

#include "base/error.hpp"
#include "comm/transports/plugin.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw InputError("E010", {}, why); }

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

bool wants_gpus(const SimulationOptions& engine) { return engine.device == Device::Gpu || engine.gpus > 0; }

ProcessOptions process_options(const RunOptions& options, const SimulationOptions& engine, int processes)
{
    ProcessOptions result;
    result.processes = processes;
    result.ranks = engine.ranks_asked_for() == 0 ? result.processes : engine.ranks_asked_for();
    result.deadline = engine.comm_timeout;
    const bool on_gpus = wants_gpus(engine);
    if (on_gpus && engine.ranks_asked_for() == 0) { result.ranks = std::max(result.processes, engine.gpus); }
    if (on_gpus && engine.halo != HaloMethod::Direct && engine.halo != HaloMethod::StagedFused)
    {
        refuse("several processes with GPUs need a halo method that no host takes part in. Use --halo direct or staged-fused.");
    }
    if (options.transport == "nvshmem" && (result.ranks != result.processes || engine.gpus != result.processes))
    {
        refuse("--transport nvshmem needs a process for each GPU, and a rank for each. Give --processes and --gpus the same "
               "number.");
    }
    if (result.ranks < result.processes)
    {
        refuse(
            fmt::format("{} processes are more than the {} rank{} (each process has one at least). Give more --ranks, or fewer "
                        "processes.",
                        result.processes, result.ranks, result.ranks == 1 ? "" : "s"));
    }
    if (!options.trace.empty()) { refuse("--trace sees the ranks of one process alone. Use one process, or leave --trace out."); }
    return result;
}

void expect_several_ranks(const RunParameters& parameters)
{
    if (is_one_ranks(parameters)) { refuse("several processes need several ranks, and a minimisation is one rank's. Use one."); }
}

void expect_own_transport(const RunOptions& options)
{
    const std::string& transport = options.transport;
    if (transport == "peer" || transport == "nvshmem")
    {
        if (options.processes > 1 && wants_gpus(simulation_options(options.engine))) { return; }
        refuse(fmt::format(
            "--transport {} is for GPUs of several processes. Give --processes and --gpus as well, or leave it out.", transport));
    }
    if (transport != "auto" && transport != "tcp" && plugin_of_launcher(transport) == nullptr)
    {
        refuse(
            fmt::format("--transport {} is for processes that a launcher of its library has started (mpirun, mpiexec, oshrun). "
                        "Start this one so, or leave it out.",
                        transport));
    }
}

void expect_cpus(const SimulationOptions& engine)
{
    if (!wants_gpus(engine)) { return; }
    refuse(
        "processes that a launcher has started have ranks on CPUs. For GPUs start one process, with --processes if there are to "
        "be several, or use --device cpu.");
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
