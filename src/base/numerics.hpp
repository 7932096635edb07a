// SPDX-License-Identifier: Apache-2.0
// The numeric policies of the engine. One source is instantiated for four policies. A policy N names these types:
//   Real      stores velocities and parameters; pair forces are computed in it
//   Fixed     stores a position component: an unsigned fixed-point fraction of the box edge (see state/periodic_box.hpp)
//   ForceSum  sums forces: Real, or 64-bit fixed point, whose sums do not depend on their order and hence neither on threads
//             nor on the domain decomposition
// Bonded terms, constraints and integration compute in double in every policy. They are a few per cent of the work. Stiff
// bonded forces limit the accuracy of engines that compute these forces in single precision (docs/decisions/0002-precision.md).
#pragma once

#include "base/host_device.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace parhelion {

enum class Precision : std::uint8_t
{
    Mixed,
    Double
};
enum class Summation : std::uint8_t
{
    Fast,
    Reproducible
};

struct Mixed
{
    using Real = float;
    using Fixed = std::uint32_t;
    using ForceSum = float;
    static constexpr Precision precision = Precision::Mixed;
    static constexpr Summation summation = Summation::Fast;
};
struct Double
{
    using Real = double;
    using Fixed = std::uint64_t;
    using ForceSum = double;
    static constexpr Precision precision = Precision::Double;
    static constexpr Summation summation = Summation::Fast;
};
struct MixedReproducible
{
    using Real = float;
    using Fixed = std::uint32_t;
    using ForceSum = std::int64_t;
    static constexpr Precision precision = Precision::Mixed;
    static constexpr Summation summation = Summation::Reproducible;
};
struct DoubleReproducible
{
    using Real = double;
    using Fixed = std::uint64_t;
    using ForceSum = std::int64_t;
    static constexpr Precision precision = Precision::Double;
    static constexpr Summation summation = Summation::Reproducible;
};

// Instantiates `macro(N)` for every policy N. This is the only list of the policies that are built.
#define PARHELION_FOR_EACH_NUMERICS(macro) macro(Mixed) macro(Double) macro(MixedReproducible) macro(DoubleReproducible)

// 64-bit fixed-point sums have a resolution of 2^-32 = 2.3e-10 and a range of +-2.1e9 (kJ/mol/nm for forces, kJ/mol for
// energies). One contribution is limited to a quarter of that range. A sum of a few limited contributions then reaches the check
// for unstable atoms before it wraps around.
inline constexpr double fixed_sum_scale = 4294967296.0;
inline constexpr double fixed_sum_limit = 5e8;
// The limit of one pair's energy and of each element of its virial, kJ/mol. It is lower than fixed_sum_limit
// because all pairs add to one sum: the sum can hold 200 overlapping pairs before it wraps around.
inline constexpr double fixed_sum_pair_limit = 1e7;

// to_sum() converts a contribution to the sum's type, from_sum() a sum to a number. A contribution that is NaN or outside
// the fixed-point range becomes the limit. Wrap-around could otherwise hide it from the check for unstable atoms.
template <class Sum>
PARHELION_HD inline Sum to_sum(double value)
{
    if constexpr (std::is_same_v<Sum, std::int64_t>)
    {
        if (!(std::abs(value) < fixed_sum_limit)) { value = value < 0 ? -fixed_sum_limit : fixed_sum_limit; }
        return std::llrint(value * fixed_sum_scale);
    }
    else { return static_cast<Sum>(value); }
}
template <class Sum>
PARHELION_HD inline double from_sum(Sum sum)
{
    if constexpr (std::is_same_v<Sum, std::int64_t>) { return static_cast<double>(sum) * (1.0 / fixed_sum_scale); }
    else { return static_cast<double>(sum); }
}

// The type in which policy N sums energies, virials and kinetic energies over atoms, threads and ranks.
template <class N>
using ScalarSum = std::conditional_t<N::summation == Summation::Reproducible, std::int64_t, double>;

} // namespace parhelion
