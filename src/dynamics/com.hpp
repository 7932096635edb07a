// SPDX-License-Identifier: Apache-2.0
// Centre-of-mass motion of groups of atoms, and its removal (comm-mode = linear). With several ranks each sums over its home
// atoms, the sums are added over ranks element by element, and every rank removes the same motion from its own.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/atom_groups.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

struct ComMotion
{
    Vec3<double> velocity; // nm/ps
    double mass = 0;       // u
};

// This rank's part of the momentum and mass of each group: four sums for each.
template <class N>
std::vector<ScalarSum<N>> sum_com_motion(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state);

// By group, from the sums over all ranks. Sum: ScalarSum of some policy. A group without mass is at rest.
template <class Sum>
std::vector<ComMotion> finish_com_motion(const std::vector<Sum>& sums);

// Subtracts the groups' motions from the velocities of their home atoms; atoms in no group keep theirs.
template <class N>
void remove_com_motion(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, ParticleState<N>& state);

// The kinetic energy of the motions, kJ/mol: what removing them takes from the whole system.
double kinetic_energy(const std::vector<ComMotion>& motions);

} // namespace parhelion
