// SPDX-License-Identifier: Apache-2.0
// Determines the owner of an atom, and moves atoms to their new owners at a repartition.
//
// The idea: an update group (atoms tied by constraints) belongs as a whole to the rank whose cell contains its reference atom,
// so that constraints never cross ranks. Atoms are sent with all their data. Since the last repartition a group may have moved
// into a neighbouring cell, but no farther. Cost: a test of every home atom, and messages to the neighbouring cells.
#pragma once

#include "comm/world/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "domain/cell_grid.hpp"
#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

// Returns this rank's share of the atoms of `whole`, which has all atoms. They are not in cluster order: pairs/ reorders them.
template <class N>
ParticleState<N> home_atoms(const ParticleState<N>& whole, const CellGrid& grid, int rank, const Topology& topology,
                            const UpdateGroups& groups);

// Sends the update groups that have left the cell to their new owners, and receives the groups that have
// come. Collective. Afterwards atoms are not in cluster order, there is no halo, and forces are invalid.
// Throws PhysicsError E504 if a group has moved beyond the neighbouring cells, which is a blow-up.
template <class N>
void migrate(CpuQueue& queue, const CellGrid& grid, const Topology& topology, const UpdateGroups& groups, Communicator& comm,
             std::int64_t step, ParticleState<N>& state);

} // namespace parhelion
