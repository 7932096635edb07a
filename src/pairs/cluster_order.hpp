// SPDX-License-Identifier: Apache-2.0
// Cluster order: the order of atoms in memory that pair list, forces and integration all use.
//
// The box is divided into columns in x and y. The atoms of a column are sorted in z and divided into clusters of cluster_size.
// Filler atoms complete the last cluster. Neighbours in space are thus neighbours in memory, and the eight atoms of one vector
// load are close together. Cost: O(n log m) for m atoms a column; 15 ns per atom on one core (bench/pairs).
#pragma once

#include "device/cpu_queue.hpp"
#include "model/system.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// Sorts every per-slot array into cluster order for the present positions. The number of slots may change, and state.f
// is zero afterwards. Data that depend on slots (pair list, bonded tables) must be rebuilt. home: the cell of the
// atoms, if it is not the whole box. An atom outside of the cell is sorted as if it were at the border that it has
// crossed. Otherwise it would share a cluster with atoms at the other end of the cell, or be nearly alone in a column.
template <class N>
void reorder(CpuQueue& queue, ParticleState<N>& state, const Zone& home = {});

// Returns the state of all atoms of the system, in cluster order. temperature_group: by global atom; empty: all atoms are in
// group 0. Velocities are zero if the system has none. Preconditions: as many positions as atoms in the topology; a positive box.
template <class N>
ParticleState<N> make_state(const System& system, const std::vector<std::uint8_t>& temperature_group, CpuQueue& queue);

} // namespace parhelion
