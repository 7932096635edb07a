// SPDX-License-Identifier: Apache-2.0
// Cluster order: the one order of atoms that pair list, forces and integration share.
//
// The box is cut into columns in x and y; the atoms of a column are sorted in z and cut into clusters of cluster_size, the last
// completed with fillers. Neighbours in space are neighbours in memory, and eight atoms that one vector load takes are a compact
// blob. Cost: O(n log m) with m atoms a column; 15 ns per atom on one core (bench/pairs).
#pragma once

#include "device/cpu_queue.hpp"
#include "model/system.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// Re-sorts every per-slot array into cluster order for the present positions; the number of slots may change. state.f is zero
// afterwards. What depends on slots (pair list, bonded tables) must be rebuilt.
// home: the cell of the atoms, if it is not the whole box. An atom that has strayed is sorted as if it were at the border it has
// crossed: otherwise it would share a cluster with atoms from the other end of the cell, or have a column almost for itself.
template <class N>
void reorder(CpuQueue& queue, ParticleState<N>& state, const Zone& home = {});

// The state of all atoms of the system, in cluster order. temperature_group: per global atom; empty: all 0.
// Velocities are zero where the system has none. Precondition: as many positions as the topology has atoms, a positive box.
template <class N>
ParticleState<N> make_state(const System& system, const std::vector<std::uint8_t>& temperature_group, CpuQueue& queue);

} // namespace parhelion
