// SPDX-License-Identifier: Apache-2.0
// A run whose ranks are spread over processes or virtual nodes: what may be, those of this host, and the last line of the log.
#pragma once

#include "comm/launch_processes.hpp"
#include "engine/simulation.hpp"
#include "run/run.hpp"

#include <functional>
#include <memory>
#include <string>

namespace parhelion {

// How many processes with how many ranks: as many as processes, or as GPUs if these are more, if not said. Throws InputError
// E010.
ProcessOptions process_options(const RunRequest& request, const SimulationOptions& engine, int processes);
// Throw InputError E010 if the transport cannot connect the processes that this run starts itself, or those that a launcher has
// started, and for parameters that one rank alone can follow.
void expect_own_transport(const RunRequest& request);
void expect_transport_of_launcher(const RunRequest& request);
void expect_several_ranks(const RunParameters& parameters);
// Sets what TransportKind::Nvshmem means for processes whose places are known. Throws InputError E010.
void use_nvshmem(const RunRequest& request, SimulationOptions& engine);

// Returns the virtual nodes of TransportKind::NicEmulation, or null with another transport. Throws InputError E010.
const NicEmulation* emulated_nodes(const RunRequest& request);
// Divides the ranks into these nodes. Throws InputError E010 if there are to be more or fewer, or what GPUs do not do between
// nodes.
void emulate(const NicEmulation& nodes, const RunRequest& request, SimulationOptions& engine);

// Adds a line to the log, if that is possible.
void add_last_line(const std::string& log, const std::string& text);

// Calls run_in_processes(). The first process writes the log; what ended the run is added to it if that process did not learn of
// it.
int run_and_log(ProcessOptions processes, const std::string& log, const std::function<int(std::unique_ptr<Bootstrap>)>& body);

} // namespace parhelion
