// SPDX-License-Identifier: Apache-2.0
// The data of a run that do not change while it runs, on CPUs and on GPUs. PreparedRun (engine/prepared_run.hpp) holds them.
#pragma once

#include "dynamics/barostat.hpp"
#include "dynamics/com.hpp"
#include "dynamics/constraints.hpp"
#include "dynamics/motion_groups.hpp"
#include "dynamics/stochastic.hpp"
#include "dynamics/thermostat.hpp"
#include "dynamics/virtual_sites.hpp"
#include "interactions/bonded/bonded.hpp"
#include "interactions/bonded/restraints.hpp"
#include "interactions/field/acceleration.hpp"
#include "interactions/field/electric_field.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "interactions/pair/dispersion.hpp"
#include "interactions/pair/nonbonded.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"
#include "model/update_groups.hpp"
#include "pairs/buffer.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// The run that the user asked for, and its plan.
struct RunSetup
{
    System system;
    RunParameters parameters;                      // parameters of the .mdp, with intervals and seeds filled in
    std::int64_t first_step = 0;                   // first step of the run, maybe begun by an earlier simulation
    ListConditions list_conditions;                // conditions for pair lists at the start
    ListPlan list_plan;                            // plan of the pair lists of CPUs for list_conditions
    UpdateGroups update_groups;                    // of `system`
    MeshParameters mesh;                           // PME; order 0: the run has no mesh
    std::vector<MeshParameters> dispersion_meshes; // LJ-PME
    int threads = 1;                               // of each rank on CPUs, or of the host of GPUs
    int stream_interval = 0;                       // Schedule::set_stream_interval()
};

// The tables of the whole system from which forces and updates are computed. All ranks on CPUs share them.
struct RunTables
{
    NonbondedParameters nonbonded;
    BondedTables bonded;
    PositionRestraints restraints;
    UniformField field;
    GroupAcceleration acceleration;
    DispersionTail dispersion;
    Constraints constraints;
    VirtualSites sites;
    Mobility mobility; // whether each motion group moves along each axis; empty if no atom is frozen
    ComGroups com;
    std::int64_t lincs_constraints = 0;     // number of LINCS constraints in the whole system
    std::vector<double> degrees_of_freedom; // number of each temperature group
    // The couplings at the start of the run. Simulated annealing changes the copies of a rank.
    TemperatureCoupling temperature_coupling;
    PressureCoupling pressure_coupling;
    StochasticDynamics stochastic;
};

} // namespace parhelion
