// SPDX-License-Identifier: Apache-2.0
#include "engine/rank.hpp"

namespace parhelion {

template <class N>
Rank<N> make_rank(const RunSetup& setup, const RunTables& tables, const RankDivision& division, CpuQueue& queue,
                  Communicator& comm)
{
    return Rank<N>{
        .topology = setup.system.topology,
        .parameters = setup.parameters,
        .start_velocities = setup.system.v,
        .queue = queue,
        .comm = comm,
        .update_groups = setup.update_groups,
        .tables = tables,
        .nonbonded = NonbondedTables<N>(tables.nonbonded),
        .halo = Halo<N>(division.halo_method, comm, queue),
        .list_plan = setup.list_plan,
        .mesh = RankMesh<N>(division.mesh, comm),
        .temperature_coupling = tables.temperature_coupling,
        .pressure_coupling = tables.pressure_coupling,
        .stochastic = tables.stochastic,
        .grid = division.grid,
        .step = setup.parameters.first_step,
        .coupling = initial_coupling(tables.temperature_coupling),
        .list_conditions = setup.list_conditions,
    };
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template Rank<N> make_rank<N>(const RunSetup&, const RunTables&, const RankDivision&, CpuQueue&, Communicator&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
