// SPDX-License-Identifier: Apache-2.0
// Velocities drawn from the Maxwell-Boltzmann distribution (gen-vel = yes).
#pragma once

#include "dynamics/constraints.hpp"

#include <cstdint>

namespace parhelion {

struct VelocityGeneration
{
    double temperature = 300; // K
    std::uint64_t seed = 0;
    double degrees_of_freedom = 0; // of the whole system
};

// Draws state.v of the home atoms by global atom from the seed, and removes what acts along constraints. The same for any number
// of ranks and threads and any order of slots.
template <class N>
void draw_velocities(CpuQueue& queue, const VelocityGeneration& generation, const Constraints& constraints,
                     const ConstraintAssignment& assignment, ParticleState<N>& state);

// Scales state.v, of which kinetic_energy (kJ/mol) is that of the whole system, so that the temperature is exact.
template <class N>
void scale_velocities(const VelocityGeneration& generation, double kinetic_energy, ParticleState<N>& state);

// The velocities of a single rank: drawn, without motion of the centre of mass, scaled. The same for any number of threads and
// any order of slots, up to the last bits of the scaling factor in fast policies.
template <class N>
void generate_velocities(CpuQueue& queue, const VelocityGeneration& generation, const Constraints& constraints,
                         const ConstraintAssignment& assignment, ParticleState<N>& state);

} // namespace parhelion
