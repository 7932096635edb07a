// SPDX-License-Identifier: Apache-2.0
// Friction and noise for one velocity, for host and device. stochastic.hpp has the method.
#pragma once

#include "base/random.hpp"
#include "dynamics/stochastic.hpp"

#include <cmath>
#include <cstdint>

namespace parhelion {

// Returns v2, the velocity after friction and noise, for v1. It is 0 along frozen axes. inverse_mass: 1/u.
PARHELION_HD inline Vec3<double> after_friction_and_noise(const StochasticDynamics::Group& group, std::uint64_t seed,
                                                          std::int64_t step, std::int32_t global_atom, double inverse_mass,
                                                          const Vec3<double>& v1)
{
    const double sigma = std::sqrt(group.kt * (1 - group.keep * group.keep) * inverse_mass);
    const NormalDeviates n =
        normal_deviates(random_bits(seed, RandomPurpose::StochasticDynamics, step, static_cast<std::uint32_t>(global_atom)));
    return group.keep * v1 + sigma * along(group.mobility, Vec3<double>{n.value[0], n.value[1], n.value[2]});
}

} // namespace parhelion
