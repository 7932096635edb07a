// SPDX-License-Identifier: Apache-2.0
// Motion of groups of atoms as a whole, and its removal (comm-mode). With several ranks each sums over its home atoms, the sums
// are added over ranks element by element, and every rank removes the same motion from its own. Rotation is that about the centre
// of mass of the places in the box: of a group that no face of the box cuts, as in GROMACS.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/atom_groups.hpp"
#include "dynamics/com_body.hpp"
#include "dynamics/motion_groups.hpp"
#include "model/topology.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

struct ComMotion
{
    Vec3<double> velocity; // nm/ps, of the atoms that move along an axis
    double mass = 0;       // u
    Vec3<double> frozen;   // u, of the atoms that do not, by axis
    Rotation rotation;     // ComMode::Angular
};

// The groups whose motion is removed, with the frozen atoms in them.
struct ComGroups
{
    AtomGroups groups;                // atoms that are frozen along all axes are in none
    std::vector<Vec3<double>> frozen; // ComMotion::frozen by group; empty: nothing is
};
ComGroups make_com_groups(AtomGroups groups, const Topology& topology);

// This rank's part of the sums of each group (com_body.hpp), one group after another.
template <class N>
std::vector<ScalarSum<N>> sum_com_motion(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state,
                                         ComMode mode = ComMode::Linear);

// By group, from the sums over all ranks. Sum: ScalarSum of some policy. A group without mass is at rest. frozen: of ComGroups.
template <class Sum>
std::vector<ComMotion> finish_com_motion(const std::vector<Sum>& sums, const std::vector<Vec3<double>>& frozen = {},
                                         ComMode mode = ComMode::Linear);

// Subtracts the groups' motions from the velocities of their home atoms, along the axes that these move along; atoms in no group
// keep theirs. mobility: empty where nothing is frozen.
template <class N>
void remove_com_motion(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, ParticleState<N>& state,
                       const Mobility& mobility = {});

// Takes atoms back by the way that their group has made, accelerated evenly from rest, in `time` (ps): half of its velocity times
// that, for a way below half the least height of the box. Otherwise as remove_com_motion().
template <class N>
void remove_com_displacement(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, double time,
                             ParticleState<N>& state, const Mobility& mobility = {});

// The kinetic energy of the motions, kJ/mol: what removing them takes from the whole system.
double kinetic_energy(const std::vector<ComMotion>& motions);

} // namespace parhelion
