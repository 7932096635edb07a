// SPDX-License-Identifier: Apache-2.0
// Who owns an atom, and the change of owner at a repartition.
//
// The idea: an update group (atoms tied by constraints) belongs as a whole to the rank in whose cell its reference atom is, so
// that constraints never cross ranks. Atoms are sent with all that belongs to them; a group may have crossed into a neighbouring
// cell since the last repartition, no further. Cost: one look at every home atom, and messages to the neighbouring cells.
#pragma once

#include "comm/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "domain/cell_grid.hpp"
#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

// This rank's share of all atoms (those of `whole`), in no useful order: pairs/ reorders.
template <class N>
ParticleState<N> home_atoms(const ParticleState<N>& whole, const CellGrid& grid, int rank, const Topology& topology,
                            const UpdateGroups& groups);

// Hands the groups that have left the cell to their new owners and takes in those that have come. Collective. Afterwards the
// order of atoms is no useful one, there is no halo, and forces are zero. Throws PhysicsError E504 if a group has moved beyond
// the neighbouring cells: that is no motion but a blow-up.
template <class N>
void migrate(CpuQueue& queue, const CellGrid& grid, const Topology& topology, const UpdateGroups& groups, Communicator& comm,
             std::int64_t step, ParticleState<N>& state);

} // namespace parhelion
