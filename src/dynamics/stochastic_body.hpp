// SPDX-License-Identifier: Apache-2.0
// Friction and noise on one velocity, on host and device: see stochastic.hpp.
#pragma once

#include "base/random.hpp"

#include <cmath>
#include <cstdint>

namespace parhelion {

// v2 of v1. keep: exp(-dt / tau); kt: kJ/mol; inverse_mass: 1/u.
PARHELION_HD inline Vec3<double> after_friction_and_noise(double keep, double kt, std::uint64_t seed, std::int64_t step,
                                                          std::int32_t global_atom, double inverse_mass, const Vec3<double>& v1)
{
    const double sigma = std::sqrt(kt * (1 - keep * keep) * inverse_mass);
    const NormalDeviates n =
        normal_deviates(random_bits(seed, RandomPurpose::StochasticDynamics, step, static_cast<std::uint32_t>(global_atom)));
    return keep * v1 + sigma * Vec3<double>{n.value[0], n.value[1], n.value[2]};
}

} // namespace parhelion
