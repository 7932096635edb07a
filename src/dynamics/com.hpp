// SPDX-License-Identifier: Apache-2.0
// Centre-of-mass motion of groups of atoms, and its removal (comm-mode = linear).
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/atom_groups.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

// Centre-of-mass velocity of each group, nm/ps. Sums in the policy's order-independent type where it has one.
template <class N>
std::vector<Vec3<double>> com_velocities(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state);

// Subtracts it from the velocities of the group's atoms; atoms in no group keep theirs. Returns the kinetic energy that took,
// kJ/mol.
template <class N>
double remove_com_motion(CpuQueue& queue, const AtomGroups& groups, ParticleState<N>& state);

} // namespace parhelion
