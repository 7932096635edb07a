// SPDX-License-Identifier: Apache-2.0
// Centre-of-mass motion of groups of atoms, and its removal (comm-mode = linear). With several ranks each sums over its home
// atoms, the sums are added over ranks element by element, and every rank removes the same motion from its own.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/atom_groups.hpp"
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
};

// The velocity of the atoms that move along each axis, nm/ps; 0 along an axis that none moves along. mass: of all atoms.
PARHELION_HD inline Vec3<double> com_velocity(const Vec3<double>& momentum, double mass, const Vec3<double>& frozen)
{
    Vec3<double> velocity;
    for (int d = 0; d < 3; ++d)
    {
        const double moving = mass - frozen[d];
        if (moving > 0) { velocity[d] = 1 / moving * momentum[d]; }
    }
    return velocity;
}

// The groups whose motion is removed, with the frozen atoms in them.
struct ComGroups
{
    AtomGroups groups;                // atoms that are frozen along all axes are in none
    std::vector<Vec3<double>> frozen; // ComMotion::frozen by group; empty: nothing is
};
ComGroups make_com_groups(AtomGroups groups, const Topology& topology);

// This rank's part of the momentum and mass of each group: four sums for each.
template <class N>
std::vector<ScalarSum<N>> sum_com_motion(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state);

// By group, from the sums over all ranks. Sum: ScalarSum of some policy. A group without mass is at rest. frozen: of ComGroups.
template <class Sum>
std::vector<ComMotion> finish_com_motion(const std::vector<Sum>& sums, const std::vector<Vec3<double>>& frozen = {});

// Subtracts the groups' motions from the velocities of their home atoms, along the axes that these move along; atoms in no group
// keep theirs. mobility: empty where nothing is frozen.
template <class N>
void remove_com_motion(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, ParticleState<N>& state,
                       const Mobility& mobility = {});

// The kinetic energy of the motions, kJ/mol: what removing them takes from the whole system.
double kinetic_energy(const std::vector<ComMotion>& motions);

} // namespace parhelion
