// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share, and validators of values.
#pragma once

#include "commands.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace parhelion {

// Accepts a finite number that is not negative. CLI's own ranges accept NaN.
extern const CLI::Validator amount;
// Accepts a finite number that is not negative, or -1.
extern const CLI::Validator amount_or_no_end;
// Accepts an integral number of steps, which may be written as 1e6. CLI itself refuses text that is no number.
extern const CLI::Validator whole_number;

// Each function adds options to a command. An option checks its value and stores it in its final
// form. On wrong values it throws CLI::ValidationError, or an InputError if the refusal has an id.
void add_input_options(CLI::App& command, InputOptions& input);
void add_prefix_option(CLI::App& command, std::string& prefix);
void add_electrostatics(CLI::App& command, SeriesElectrostatics& electrostatics);
void add_comm_timeout(CLI::App& command, std::chrono::nanoseconds& timeout);
void add_device_option(CLI::App& command, Device& device);
void add_precision_option(CLI::App& command, Precision& precision);
void add_numerics_options(CLI::App& command, RunNumerics& numerics); // that, and --reproducible
void add_engine_options(CLI::App& command, RunNumerics& numerics, RunPlacement& placement);
// Adds the options of `parhelion run` alone.
void add_imd_options(CLI::App& command, RunOptions& options);
void add_many_options(CLI::App& command, RunOptions& options); // call it after add_imd_options()
void add_connection_options(CLI::App& command, RunOptions& options);
std::array<CLI::Option*, 2> add_nic_options(CLI::App& command, NicEmulation& nic);
// Adds an option for a list of halo methods, for benchmarks. is_one: whether a method may be given.
void add_halo_methods(CLI::App& command, std::vector<HaloMethod>& methods, std::vector<HaloMethod> by_default,
                      bool (*is_one)(HaloMethod));
void add_mesh_choices(CLI::App& command, std::vector<MeshChoice>& choices);
CLI::Option* add_grids(CLI::App& command, std::vector<std::array<int, 3>>& grids);
CLI::Option* add_node_shapes(CLI::App& command, std::vector<NicEmulation>& nodes);
// Adds the rules for combining options to the end of --help.
void tell_rules(CLI::App& command);

} // namespace parhelion
