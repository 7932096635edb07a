// SPDX-License-Identifier: Apache-2.0
// The data of one rank of a run, on which step() works: its atoms, the forces on these atoms, and the state of the coupling.
#pragma once

#include "comm/world/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "domain/cell_grid.hpp"
#include "domain/load_balance.hpp"
#include "dynamics/constraints.hpp"
#include "engine/coupling.hpp"
#include "engine/external_forces.hpp"
#include "engine/observer.hpp"
#include "engine/run_setup.hpp"
#include "engine/schedule.hpp"
#include "halo/halo.hpp"
#include "interactions/force_buffers.hpp"
#include "mesh_exchange/rank_mesh.hpp"
#include "pairs/listed_positions.hpp"
#include "pairs/pair_list.hpp"
#include "state/molecules.hpp"
#include "state/particle_state.hpp"

#include <array>
#include <vector>

namespace parhelion {

// How ranks on CPUs divide the system and exchange data. The default is one rank that has no mesh.
struct RankDivision
{
    CellGrid grid; // equal cells
    Balancing balancing = Balancing::Off;
    std::array<double, 3> thinnest{}; // thinnest_cells()
    HaloMethod halo_method = HaloMethod::Direct;
    MeshSetup mesh = {};
};

template <class N>
struct Rank
{
    // The following members are fixed for the run, except for what simulated annealing changes in the couplings.
    const Topology& topology;
    const RunParameters& parameters;
    const std::vector<Vec3<double>>& start_velocities; // input, nm/ps, by global atom; empty if they are to be generated
    CpuQueue& queue;
    Communicator& comm;
    const UpdateGroups& update_groups;
    const RunTables& tables;
    NonbondedTables<N> nonbonded;
    Halo<N> halo;
    ListPlan list_plan; // the intervals of this plan may change during the run
    ExternalForces external{};
    RankMesh<N> mesh;
    TemperatureCoupling temperature_coupling;
    PressureCoupling pressure_coupling;
    StochasticDynamics stochastic;

    CellGrid grid; // cells of all ranks, whose borders may move at a repartition

    // The bonded terms, constraints and virtual sites that this rank computes.
    BondedAssignment assigned_terms{};
    ConstraintAssignment assigned_constraints{};
    SiteAssignment assigned_sites{};

    // The state that a checkpoint stores.
    std::int64_t step = 0;
    ParticleState<N> state{};
    Coupling coupling;
    ListConditions list_conditions; // conditions for which the lists in use are planned

    // Data that one phase passes to the next.
    PairList pairs{};
    std::int64_t list_step = 0;  // the step in which `pairs` was built
    bool has_flipped = false;    // true if the box was flipped after list_step, which changes fractions
    ListedPositions<N> listed{}; // positions when `pairs` was built; kept only in minimisations, or if lists must miss no pair
    ForceBuffers<N> buffers{};
    ConstraintResult<N> constraint_result{};
    ClusterArray<typename N::Real> velocities_before_noise{};
    Observables observables{}; // values of the last observed step

    int motion_groups() const
    {
        return tables.mobility.empty() ? temperature_groups() : static_cast<int>(tables.mobility.size());
    }
    int temperature_groups() const { return static_cast<int>(tables.degrees_of_freedom.size()); }
    double time() const { return parameters.start_time + static_cast<double>(step) * parameters.dt; }
};

// Returns a rank without atoms. The references must outlive it.
template <class N>
Rank<N> make_rank(const RunSetup& setup, const RunTables& tables, const RankDivision& division, CpuQueue& queue,
                  Communicator& comm);

} // namespace parhelion
