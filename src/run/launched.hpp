// SPDX-License-Identifier: Apache-2.0
// A run whose processes a launcher has started (comm/launch.hpp): they meet, make sure that they have read the same, and end
// alike. The process of rank 0 writes, and its observer is told to speak.
#pragma once

#include "comm/bootstraps/rendezvous.hpp"
#include "comm/launch.hpp"
#include "comm/launch_processes.hpp"
#include "comm/network.hpp"
#include "comm/plugin_ranks.hpp"
#include "engine/simulation.hpp"
#include "io/named_list.hpp"
#include "run/run.hpp"

#include <memory>
#include <string>

namespace parhelion {

class LaunchedRun
{
public:
    // Meets the others; strangers are told to the observer. The secret is in the file that PARHELION_SECRET_FILE names, or else
    // in one beside the output, there until all have met. Throws InputError E010, CommError, SystemError.
    LaunchedRun(const RunRequest& request, const Launch& launch, const ProcessOptions& shares, RunObserver& observer);
    ~LaunchedRun();
    LaunchedRun(const LaunchedRun&) = delete;
    LaunchedRun& operator=(const LaunchedRun&) = delete;

    bool writes() const { return launch_.process == 0; }
    const std::string& transport() const { return transport_; } // that of its network, between CPUs
    // Says how many processes of the run are on this host, and which of them this one is.
    void place(SimulationOptions& engine) const;
    // Between its ranks, by the transport of the options. Once.
    Network network();
    // Collective: all processes must have read the same, and no steps be left for all or for none. Throws InputError E212.
    void agree(const NamedList<std::string>& identity, std::int64_t steps_left);
    // Collective: with the seeds that the process of rank 0 has.
    RunParameters with_seeds_of_first(RunParameters parameters);
    // Called in the handler of an exception: throws what the run ends by. `log`: of the run.
    [[noreturn]] void end(const std::string& log);

private:
    std::int64_t from_first(const char* what, std::int64_t value);

    const Launch launch_;
    RunObserver& observer_;
    const std::string transport_;
    std::shared_ptr<Rendezvous> met_;
    std::unique_ptr<PluginRanks> plugin_; // none: TCP carries messages
};

} // namespace parhelion
