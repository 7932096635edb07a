// SPDX-License-Identifier: Apache-2.0
// Sentences about a system, a plan and a machine, which the log, `check` and `doctor` share.
#pragma once

#include "engine/simulation.hpp"
#include "io/input/hand_over.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"
#include "run/run.hpp"

#include <cstdint>
#include <string>

namespace parhelion {

std::string describe_system(const System& system);
// Describes the simulation: length, ensemble and time step. steps < 0: the simulation has no end.
std::string describe_run(const RunParameters& parameters, std::int64_t steps);
// Describes the output files and their intervals.
std::string describe_output(const RunParameters& parameters, const RunOutputs& output);
// Says that a run starts from the state of another run, or returns nothing if there is no hand-over.
std::string describe_start(const std::optional<HandOver>& hand_over);
std::string describe_seeds(const PlanSummary& plan);
std::string describe_plan(const PlanSummary& plan);
// Returns a warning if this process has more threads than cores, otherwise nothing.
std::string threads_remark(const PlanSummary& plan);
// Returns a warning of helpers that poll without a core of their own, or nothing if there are no such helpers.
std::string helpers_remark(const PlanSummary& plan);
std::string describe_machine();
// Describes how ranks share PME's mesh, or returns nothing if they do not share one.
std::string mesh_method_text(const PlanSummary& plan);
std::string size_text(std::uintmax_t bytes);           // for example "2.90 GB"
std::string grid_text(const std::array<int, 3>& grid); // for example "2x2x1"

} // namespace parhelion
