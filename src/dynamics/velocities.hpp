// SPDX-License-Identifier: Apache-2.0
// Draws velocities from the Maxwell-Boltzmann distribution (gen-vel = yes).
#pragma once

#include "dynamics/constraints.hpp"
#include "dynamics/motion_groups.hpp"

#include <cstdint>

namespace parhelion {

struct VelocityGeneration
{
    double temperature = 300; // K
    std::uint64_t seed = 0;
    double degrees_of_freedom = 0; // of the whole system
};

// Draws state.v by global atom from the seed, removes the components along constraints and the system's centre-of-mass
// motion, and scales to the exact temperature. The state must hold the whole system. In fast policies the last bits of the
// scaling factor depend on threads and on the order of slots; nothing else does. mobility: empty if no atom is frozen.
template <class N>
void generate_velocities(CpuQueue& queue, const VelocityGeneration& generation, const Constraints& constraints,
                         const ConstraintAssignment& assignment, ParticleState<N>& state, const Mobility& mobility = {});

// Sets velocities along frozen axes to 0. Does nothing if `mobility` is empty.
template <class N>
void stop_frozen(CpuQueue& queue, const Mobility& mobility, ParticleState<N>& state);

} // namespace parhelion
