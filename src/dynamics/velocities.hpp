// SPDX-License-Identifier: Apache-2.0
// Velocities drawn from the Maxwell-Boltzmann distribution (gen-vel = yes).
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

// Draws state.v by global atom from the seed, removes what acts along constraints and the motion of the whole system's centre of
// mass, and scales so that the temperature is exact: the state must hold the whole system. The same for any number of threads and
// any order of slots, up to the last bits of the scaling factor in fast policies. mobility: empty where nothing is frozen.
template <class N>
void generate_velocities(CpuQueue& queue, const VelocityGeneration& generation, const Constraints& constraints,
                         const ConstraintAssignment& assignment, ParticleState<N>& state, const Mobility& mobility = {});

// Takes velocities along frozen axes away; nothing to do where mobility is empty.
template <class N>
void stop_frozen(CpuQueue& queue, const Mobility& mobility, ParticleState<N>& state);

} // namespace parhelion
