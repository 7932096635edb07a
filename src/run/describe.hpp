// SPDX-License-Identifier: Apache-2.0
// Sentences about a system, a plan and a machine, shared by log, `check` and `doctor`.
#pragma once

#include "engine/simulation.hpp"
#include "io/hand_over.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"

#include <string>

namespace parhelion {

std::string describe_system(const System& system);
// What is simulated: how long, in which ensemble, with which time step. steps < 0: no end.
std::string describe_run(const RunParameters& parameters, std::int64_t steps);
// What is written how often, the file names beginning with `prefix`.
std::string describe_output(const RunParameters& parameters, const std::string& prefix, double checkpoint_s);
// Of a run that starts from another one's state; empty: it does not.
std::string describe_start(const std::optional<HandOver>& hand_over);
std::string describe_seeds(const PlanSummary& plan);
std::string describe_plan(const PlanSummary& plan);
// Of more threads than this process has cores; empty: nothing to say.
std::string threads_remark(const PlanSummary& plan);
// On helpers that poll and have no core for it; empty: there are none.
std::string helpers_remark(const PlanSummary& plan);
std::string describe_machine();
// How ranks share the mesh of PME; empty: they do not.
std::string mesh_method_text(const PlanSummary& plan);
std::string grid_text(const std::array<int, 3>& grid); // "2x2x1"

} // namespace parhelion
