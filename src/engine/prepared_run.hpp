// SPDX-License-Identifier: Apache-2.0
// Everything that a run needs before its first step, the same on CPUs and on GPUs: its plan, its tables, and the whole system at
// the start. prepare_run() makes it once, on one rank with threads of its own; Engine and GpuEngine take it.
#pragma once

#include "engine/run_setup.hpp"
#include "engine/simulation.hpp"
#include "engine/snapshot.hpp"

#include <memory>

namespace parhelion {

template <class N>
struct PreparedRun
{
    // The start is still empty.
    explicit PreparedRun(RunSetup&& of_run);
    PreparedRun(const PreparedRun&) = delete; // ranks and tables refer to its members
    PreparedRun& operator=(const PreparedRun&) = delete;

    RunSetup setup;
    const RunTables tables;
    Snapshot<N> start; // all atoms of the system, as one rank has them
    PlanSummary plan;  // that part of the plan that does not depend on the ranks
};

// Returns the options of a run on GPUs for its host, which prepares the run on one rank, and may have to take it over: no halo,
// because GPU halo methods do not run there.
SimulationOptions on_one_rank(SimulationOptions options);

// Plans a run, and prepares the system: generates velocities if asked for and satisfies constraints, unless the run continues
// from `saved`. Of the options it takes the threads of a rank, the streaming interval, and the network's name for the plan.
// Throws InputError for a system that cannot be simulated, and PhysicsError if constraints cannot be satisfied.
template <class N>
std::shared_ptr<PreparedRun<N>> prepare_run(System&& system, RunParameters&& parameters, const SimulationOptions& options,
                                            const SavedState* saved);

} // namespace parhelion
