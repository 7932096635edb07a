// SPDX-License-Identifier: Apache-2.0
#include "run_processes.hpp"

#include "base/error.hpp"

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

ProcessOptions process_options(const RunOptions& options, const SimulationOptions& engine, int processes)
{
    ProcessOptions result;
    result.processes = processes;
    result.ranks = engine.ranks_asked_for() == 0 ? result.processes : engine.ranks_asked_for();
    result.deadline = engine.comm_timeout;
    if (engine.device == Device::Gpu || engine.gpus > 0)
    {
        refuse("several processes are for runs on CPUs: ranks on GPUs are threads of one process. Use one, or --device cpu.");
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
