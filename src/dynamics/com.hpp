// SPDX-License-Identifier: Apache-2.0
// The motion of groups of atoms as a whole, and its removal (comm-mode). Each rank sums over its home atoms, the sums
// are added over ranks element by element, and every rank removes the motion from its atoms. Rotation is about the
// centre of mass of the positions in the box. As in GROMACS, this is right for groups that no face of the box cuts.
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
    Vec3<double> velocity; // nm/ps; component d is the mean over atoms that are not frozen along axis d, weighted by mass
    double mass = 0;       // u
    Vec3<double> frozen;   // mass of the atoms that are frozen along each axis, u
    Rotation rotation;     // only with ComMode::Angular
};

// The groups whose motion is removed, and the mass of their frozen atoms.
struct ComGroups
{
    AtomGroups groups;                // atoms that are frozen along all axes are in no group
    std::vector<Vec3<double>> frozen; // ComMotion::frozen of each group; empty if no atom is frozen
};
ComGroups make_com_groups(AtomGroups groups, const Topology& topology);

// Returns this rank's part of the sums of each group (com_body.hpp), one group after the other.
template <class N>
std::vector<ScalarSum<N>> sum_com_motion(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state,
                                         ComMode mode = ComMode::Linear);

// Returns each group's motion, 0 without mass. sums: over all ranks (Sum: a ScalarSum). frozen: see ComGroups.
template <class Sum>
std::vector<ComMotion> finish_com_motion(const std::vector<Sum>& sums, const std::vector<Vec3<double>>& frozen = {},
                                         ComMode mode = ComMode::Linear);

// Subtracts each group's motion from the velocities of its home atoms, but not along their
// frozen axes. Atoms in no group keep their velocities. mobility: empty if no atom is frozen.
template <class N>
void remove_com_motion(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, ParticleState<N>& state,
                       const Mobility& mobility = {});

// Moves atoms back by the displacement of their group: half of velocity times `time` (ps), as after a constant acceleration from
// rest. It must be below half the least height of the box. Frozen axes and `mobility` are as in remove_com_motion().
template <class N>
void remove_com_displacement(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, double time,
                             ParticleState<N>& state, const Mobility& mobility = {});

// Returns the kinetic energy of the motions, kJ/mol. The system loses this energy if the motions are removed.
double kinetic_energy(const std::vector<ComMotion>& motions);

} // namespace parhelion
