// SPDX-License-Identifier: Apache-2.0
// A run whose processes were started by a launcher (comm/launch/launch.hpp). The processes connect, ensure that
// all have read the same input, and end alike. The process of rank 0 writes files, and its observer prints.
#pragma once

#include "comm/bootstraps/rendezvous.hpp"
#include "comm/core/network.hpp"
#include "comm/launch/launch.hpp"
#include "comm/launch/launch_processes.hpp"
#include "comm/networks/plugin_ranks.hpp"
#include "engine/simulation.hpp"
#include "io/input/named_list.hpp"
#include "run/run.hpp"

#include <memory>
#include <string>

namespace parhelion {

class LaunchedRun
{
public:
    // Connects the processes. Tells the observer of strangers that tried to connect. PARHELION_SECRET_FILE names the file with
    // the secret. Without it a file beside the output is made, and removed when all are connected. Throws CommError, SystemError.
    LaunchedRun(const RunRequest& request, const Launch& launch, const ProcessOptions& shares, RunObserver& observer);
    ~LaunchedRun();
    LaunchedRun(const LaunchedRun&) = delete;
    LaunchedRun& operator=(const LaunchedRun&) = delete;

    bool writes() const { return launch_.process == 0; }
    const char* transport() const { return transport_name(transport_); } // name of the network's transport between CPUs
    // Sets in `engine` the number of the run's processes on this host, and which of these this process is.
    void place(SimulationOptions& engine) const;
    // Returns the network between the run's ranks, by the transport of the options. Call it once.
    Network network();
    // Collective. Throws InputError E212 if processes read different input, or if steps are left for only some of them.
    void agree(const NamedList<std::string>& identity, std::int64_t steps_left);
    // Collective. Returns the parameters with the seeds of rank 0's process.
    RunParameters with_seeds_of_first(RunParameters parameters);
    // Throws the error with which the run ends. Call it in the handler of an exception. `log`: path of the log of the run.
    [[noreturn]] void end(const std::string& log);

private:
    std::int64_t from_first(const char* what, std::int64_t value);

    const Launch launch_;
    RunObserver& observer_;
    const TransportKind transport_;
    std::shared_ptr<Rendezvous> met_;
    std::unique_ptr<PluginRanks> plugin_; // null: messages are sent by TCP
};

} // namespace parhelion
