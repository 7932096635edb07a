// SPDX-License-Identifier: Apache-2.0
// Constant accelerations of groups of atoms (acc-grps, accelerate of the .mdp): f_i = m_i a. As in GROMACS
// they contribute no energy and no virial, so the total energy is not conserved. Cost: a pass over the atoms.
#pragma once

#include "device/cpu_queue.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct GroupAcceleration
{
    std::vector<std::uint8_t> group_of_atom; // index into of_group, by global atom; empty if no group is accelerated
    std::vector<Vec3<double>> of_group;      // nm/ps^2; the first is for atoms that are in no group

    bool acts() const { return !of_group.empty(); }
};

// Returns the accelerations. If centre-of-mass motion is removed, the system's mean acceleration is subtracted,
// as in GROMACS' preprocessor. Precondition: the groups exist, are at most 255, and share no atoms.
GroupAcceleration make_acceleration(const System& system, const RunParameters& parameters);

// Adds the forces of the acceleration on home atoms to state.f.
template <class N>
void add_acceleration(CpuQueue& queue, const GroupAcceleration& acceleration, ParticleState<N>& state);

} // namespace parhelion
