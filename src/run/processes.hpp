// SPDX-License-Identifier: Apache-2.0
// A run whose ranks are spread over processes or virtual nodes. The functions here determine
// the number of processes and the ranks of this host, and write the last line of the log.
#pragma once

#include "comm/launch/launch.hpp"
#include "comm/launch/launch_processes.hpp"
#include "engine/option_rules.hpp"
#include "engine/simulation.hpp"
#include "run/run.hpp"

#include <functional>
#include <memory>
#include <string>

namespace parhelion {

// Returns the facts by which the rules of options are judged (engine/option_rules.hpp),
// before any file is read. `launch`: null if no launcher started several processes.
OptionFacts facts_of(const RunRequest& request, const Launch* launch);
// Returns the options of a run in processes: the number of processes and the number of all ranks.
ProcessOptions process_options(const OptionFacts& facts);
// Sets the options that virtual nodes of TransportKind::NicEmulation imply. Does nothing with another transport.
void emulate_nodes(const RunRequest& request, SimulationOptions& engine);
// Sets the options that TransportKind::Nvshmem implies, once each process knows its rank and its GPU. Else does nothing.
void use_nvshmem(SimulationOptions& engine);

// Adds a line to the log. Ignores failures.
void add_last_line(const std::string& log, const std::string& text);

// Calls run_in_processes(). The first process writes the log. If the error that
// ended the run did not reach that process, this function adds the error to the log.
int run_and_log(ProcessOptions processes, const std::string& log, const std::function<int(std::unique_ptr<Bootstrap>)>& body);

} // namespace parhelion
