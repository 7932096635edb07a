// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands have, and what values of options may be.
#pragma once

#include "commands.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace parhelion {

// CLI's own ranges take what is not a number.
extern const CLI::Validator amount;
// A whole number of steps, which may be written as 1e6. CLI itself refuses what is no number.
extern const CLI::Validator whole_number;
// A way to share the mesh of PME that is there.
extern const CLI::Validator mesh_method_name;
extern const std::vector<std::string> halo_methods;
std::vector<std::string> halo_methods_of_cpus();

void add_input_options(CLI::App& command, InputOptions& input);
void add_prefix_option(CLI::App& command, std::string& prefix);
void add_electrostatics(CLI::App& command, SeriesElectrostatics& electrostatics);
void add_comm_timeout(CLI::App& command, double& seconds);
void add_engine_options(CLI::App& command, EngineOptions& engine);
void add_nic_options(CLI::App& command, NicOptions& nic);

} // namespace parhelion
