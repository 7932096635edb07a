// SPDX-License-Identifier: Apache-2.0
// Positions as fixed-point fractions of the box, and the box they are fractions of.
//
// The idea: a coordinate is an unsigned integer u with x = u * L / 2^bits. Integer subtraction wraps, so the difference of two
// positions *is* the minimum image: no shift vectors, no wrapping code, no special case at a border, and a copy of an atom on
// another rank has its owner's bits. Resolution is L / 2^32 (2e-9 nm for an 8 nm box) in mixed precision, far finer than float,
// and exact under subtraction. Scaling the box scales every position with it, at no cost. Cost: one integer-to-float conversion
// per difference. See docs/decisions/0001-fixed-point-positions.md.
#pragma once

#include "base/vec3.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace parhelion {

// The leading 32 bits of a position component.
inline std::uint32_t leading_bits(std::uint32_t x) { return x; }
inline std::uint32_t leading_bits(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

template <class N>
class PeriodicBox
{
public:
    using Real = typename N::Real;
    using Fixed = typename N::Fixed;
    using Signed = std::make_signed_t<Fixed>;
    static constexpr int bits = std::numeric_limits<Fixed>::digits;
    static constexpr double unit = bits == 32 ? 0x1p-32 : 0x1p-64; // of the box

    PeriodicBox() = default;
    PARHELION_HD explicit PeriodicBox(const Vec3<double>& length) { set_length(length); }

    // Scales every position with the box.
    PARHELION_HD void set_length(const Vec3<double>& length)
    {
        length_ = length;
        for (int d = 0; d < 3; ++d)
        {
            nm_per_unit_[d] = length[d] * unit;
            inverse_length_[d] = 1.0 / length[d];
        }
    }
    PARHELION_HD const Vec3<double>& length() const { return length_; }
    PARHELION_HD double volume() const { return length_.x * length_.y * length_.z; }
    // nm per unit of the fixed-point fraction: difference(a, b)[d] = Signed(a[d] - b[d]) * nm_per_unit()[d].
    PARHELION_HD const Vec3<double>& nm_per_unit() const { return nm_per_unit_; }

    // Any finite position, inside the box or not.
    PARHELION_HD Vec3<Fixed> to_fixed(const Vec3<double>& nm) const
    {
        return {component_to_fixed(nm.x * inverse_length_.x), component_to_fixed(nm.y * inverse_length_.y),
                component_to_fixed(nm.z * inverse_length_.z)};
    }
    // In [0, L).
    PARHELION_HD Vec3<double> to_nm(const Vec3<Fixed>& x) const
    {
        return {static_cast<double>(x.x) * nm_per_unit_.x, static_cast<double>(x.y) * nm_per_unit_.y,
                static_cast<double>(x.z) * nm_per_unit_.z};
    }
    // Minimum image of a - b, nm; each component in [-L/2, L/2).
    PARHELION_HD Vec3<double> difference(const Vec3<Fixed>& a, const Vec3<Fixed>& b) const
    {
        return {static_cast<double>(static_cast<Signed>(a.x - b.x)) * nm_per_unit_.x,
                static_cast<double>(static_cast<Signed>(a.y - b.y)) * nm_per_unit_.y,
                static_cast<double>(static_cast<Signed>(a.z - b.z)) * nm_per_unit_.z};
    }
    // x + dx, for |dx| < L/2; rounds to the nearest representable position.
    PARHELION_HD Vec3<Fixed> displaced(const Vec3<Fixed>& x, const Vec3<double>& dx) const
    {
        return {x.x + displacement_to_fixed(dx.x * inverse_length_.x), x.y + displacement_to_fixed(dx.y * inverse_length_.y),
                x.z + displacement_to_fixed(dx.z * inverse_length_.z)};
    }

private:
    PARHELION_HD static Fixed component_to_fixed(double fraction)
    {
        return displacement_to_fixed(fraction - std::floor(fraction) - 0.5) + half;
    }
    // fraction in [-0.5, 0.5]; -0.5 and +0.5 are the same point.
    PARHELION_HD static Fixed displacement_to_fixed(double fraction)
    {
        if constexpr (bits == 32) { return static_cast<Fixed>(std::llrint(fraction * 0x1p32)); }
        else
        {
            // +2^63 does not fit a long long: the halves are converted exactly and added with wrap-around.
            const auto part = static_cast<Fixed>(static_cast<Signed>(std::llrint(fraction * 0x1p62)));
            const double rest = fraction * 0x1p63 - 2 * static_cast<double>(static_cast<Signed>(part));
            return (part << 2) + (static_cast<Fixed>(static_cast<Signed>(std::llrint(2 * rest))));
        }
    }
    static constexpr Fixed half = Fixed{1} << (bits - 1);

    Vec3<double> length_{1, 1, 1}, nm_per_unit_, inverse_length_{1, 1, 1};
};

} // namespace parhelion
