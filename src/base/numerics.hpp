// SPDX-License-Identifier: Apache-2.0
// The numeric policies of the engine: one source, four instantiations. A policy N names
//   Real      storage of velocities and parameters, and arithmetic of pair forces
//   Fixed     a position component: an unsigned fixed-point fraction of the box edge (see state/periodic_box.hpp)
//   ForceSum  what forces are added up in: Real, or 64-bit fixed point, whose sums do not depend on order, hence on threads
//             or domains
// Bonded terms, constraints and integration compute in double in every policy: they are a few per cent of the work, and it is the
// stiff bonded forces that limit float engines (docs/decisions/0002-precision.md).
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

// Instantiates `macro(N)` for every policy; the one list of what is built.
#define PARHELION_FOR_EACH_NUMERICS(macro) macro(Mixed) macro(Double) macro(MixedReproducible) macro(DoubleReproducible)

// 64-bit fixed-point sums: resolution 2^-32 = 2.3e-10, range +-2.1e9 (kJ/mol/nm for forces, kJ/mol for energies). One
// contribution is limited to a quarter of that, so that a few saturated ones do not wrap before the unstable atom check has seen
// them.
inline constexpr double fixed_sum_scale = 4294967296.0;
inline constexpr double fixed_sum_limit = 5e8;
// The same for the energy of a pair and each element of its virial, kJ/mol, as those of all pairs meet in one sum: room for 200
// overlapping pairs before it wraps.
inline constexpr double fixed_sum_pair_limit = 1e7;

// Converts a contribution to the sum's type and a sum back to a number. A contribution outside the fixed-point range (or NaN)
// saturates to the limit, so that the unstable atom check sees it instead of a wrapped small number.
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

// The type in which energies, virials and kinetic energies of policy N are added up over atoms, threads and ranks.
template <class N>
using ScalarSum = std::conditional_t<N::summation == Summation::Reproducible, std::int64_t, double>;

} // namespace parhelion
