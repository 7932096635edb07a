// SPDX-License-Identifier: Apache-2.0
// The data of one rank of a run, on which step() works: its atoms, the forces on these atoms, and the state of the coupling.
#pragma once

#include "comm/world/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "domain/cell_grid.hpp"
#include "dynamics/barostat.hpp"
#include "dynamics/com.hpp"
#include "dynamics/constraints.hpp"
#include "dynamics/motion_groups.hpp"
#include "dynamics/stochastic.hpp"
#include "dynamics/thermostat.hpp"
#include "dynamics/virtual_sites.hpp"
#include "engine/coupling.hpp"
#include "engine/external_forces.hpp"
#include "engine/observer.hpp"
#include "engine/schedule.hpp"
#include "halo/halo.hpp"
#include "interactions/bonded/bonded.hpp"
#include "interactions/bonded/restraints.hpp"
#include "interactions/field/acceleration.hpp"
#include "interactions/field/electric_field.hpp"
#include "interactions/force_buffers.hpp"
#include "interactions/pair/dispersion.hpp"
#include "interactions/pair/nonbonded.hpp"
#include "mesh_exchange/rank_mesh.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"
#include "model/update_groups.hpp"
#include "pairs/buffer.hpp"
#include "pairs/listed_positions.hpp"
#include "pairs/pair_list.hpp"
#include "state/molecules.hpp"
#include "state/particle_state.hpp"

namespace parhelion {

template <class N>
struct Rank
{
    // The following members are fixed for the run.
    const Topology& topology;
    const RunParameters& parameters;
    const std::vector<Vec3<double>>& start_velocities; // input, nm/ps, by global atom; empty if they are to be generated
    CpuQueue& queue;
    Communicator& comm;
    const UpdateGroups& update_groups;
    Halo<N> halo;
    ListPlan list_plan; // the intervals of this plan may change during the run
    NonbondedTables<N> nonbonded;
    BondedTables bonded;
    PositionRestraints restraints;
    UniformField field;
    GroupAcceleration acceleration;
    ExternalForces external;
    RankMesh<N> mesh;
    DispersionTail dispersion;
    Constraints constraints;
    VirtualSites sites;
    Mobility mobility; // whether each motion group moves along each axis; empty if no atom is frozen
    ComGroups com;
    std::int64_t lincs_constraints = 0;     // number of LINCS constraints in the whole system
    std::vector<double> degrees_of_freedom; // number of each temperature group
    TemperatureCoupling temperature_coupling;
    PressureCoupling pressure_coupling;
    StochasticDynamics stochastic;

    CellGrid grid; // cells of all ranks, whose borders may move at a repartition

    // The bonded terms, constraints and virtual sites that this rank computes.
    BondedAssignment assigned_terms;
    ConstraintAssignment assigned_constraints;
    SiteAssignment assigned_sites;

    // The state that a checkpoint stores.
    std::int64_t step = 0;
    ParticleState<N> state;
    Coupling coupling;
    ListConditions list_conditions; // conditions for which the lists in use are planned

    // Data that one phase passes to the next.
    PairList pairs;
    std::int64_t list_step = 0; // the step in which `pairs` was built
    bool has_flipped = false;   // true if the box was flipped after list_step, which changes fractions
    ListedPositions<N> listed;  // positions when `pairs` was built; kept only in minimisations, or if lists must miss no pair
    ForceBuffers<N> buffers;
    ConstraintResult<N> constraint_result;
    ClusterArray<typename N::Real> velocities_before_noise;
    Observables observables; // values of the last observed step

    int motion_groups() const { return mobility.empty() ? temperature_groups() : static_cast<int>(mobility.size()); }
    int temperature_groups() const { return static_cast<int>(degrees_of_freedom.size()); }
    double time() const { return parameters.start_time + static_cast<double>(step) * parameters.dt; }
};

} // namespace parhelion
