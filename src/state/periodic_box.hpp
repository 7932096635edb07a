// SPDX-License-Identifier: Apache-2.0
// Positions as fixed-point fractions of the box, and the class of this box, which converts them from and to nm.
//
// The idea: a coordinate is an unsigned integer u, in units of 2^-bits of an edge vector. Integer subtraction wraps, so the
// difference of two positions *is* the nearest image (of those within half the least height of the box). There are no shift
// vectors, no wrapping code, no special case at a border, and an atom's copy on another rank has its owner's bits. Resolution is
// L / 2^32 (2e-9 nm for an 8 nm box) in mixed precision, far finer than float. Subtraction is exact. Scaling the box scales every
// position at no cost. Cost: an integer-to-float conversion per difference. See docs/decisions/0001-fixed-point-positions.md.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace parhelion {

// Returns the leading 32 bits of a position component.
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
    static constexpr double unit = bits == 32 ? 0x1p-32 : 0x1p-64; // fraction of the box

    PeriodicBox() = default;
    PARHELION_HD explicit PeriodicBox(const Box<double>& edges) { set_edges(edges); }

    // Sets the box; every position scales with it.
    PARHELION_HD void set_edges(const Box<double>& edges)
    {
        edges_ = edges;
        unit_ = unit * edges;
        for (int d = 0; d < 3; ++d) { inverse_diagonal_[d] = 1.0 / edges.diagonal()[d]; }
        sure2_ = std::numeric_limits<double>::infinity();
        if (!edges.is_rectangular()) // a branch saves kernels that move atoms the roots and divisions of heights
        {
            const double least_height = edges.least_height();
            sure2_ = 0.25 * least_height * least_height;
        }
    }
    PARHELION_HD const Box<double>& edges() const { return edges_; }
    // Returns the box of one unit of the fixed-point fractions, nm: difference(a, b) = nm_per_unit().to_nm(Signed(a - b)).
    PARHELION_HD const Box<double>& nm_per_unit() const { return unit_; }

    // Converts any finite position, inside the box or not.
    PARHELION_HD Vec3<Fixed> to_fixed(const Vec3<double>& nm) const
    {
        const Vec3<double> fractions = to_fractions(nm);
        return {component_to_fixed(fractions.x), component_to_fixed(fractions.y), component_to_fixed(fractions.z)};
    }
    // Converts fractions in [0, 1) to nm.
    PARHELION_HD Vec3<double> to_nm(const Vec3<Fixed>& x) const { return unit_.to_nm(static_cast<Vec3<double>>(x)); }
    // Returns the wrapped a - b, nm; each fraction is in [-1/2, 1/2). tilted = false omits terms that are 0 in a rectangular box.
    template <bool tilted = true>
    PARHELION_HD Vec3<double> difference(const Vec3<Fixed>& a, const Vec3<Fixed>& b) const
    {
        const Vec3<double> units{static_cast<double>(static_cast<Signed>(a.x - b.x)),
                                 static_cast<double>(static_cast<Signed>(a.y - b.y)),
                                 static_cast<double>(static_cast<Signed>(a.z - b.z))};
        if constexpr (tilted) { return unit_.to_nm(units); }
        const Vec3<double>& nm = unit_.diagonal();
        return {units.x * nm.x, units.y * nm.y, units.z * nm.z};
    }
    // Returns the nearest image of a - b, nm. It may be longer than half the least height, but not than any height of the box.
    template <bool tilted = true>
    PARHELION_HD Vec3<double> nearest(const Vec3<Fixed>& a, const Vec3<Fixed>& b) const
    {
        const Vec3<double> wrapped = difference<tilted>(a, b);
        if constexpr (!tilted) { return wrapped; }
        return norm2(wrapped) <= sure2_ ? wrapped : edges_.image(wrapped);
    }
    // Returns x + dx, for |dx| below half the least height, rounded to the nearest representable position.
    template <bool tilted = true>
    PARHELION_HD Vec3<Fixed> displaced(const Vec3<Fixed>& x, const Vec3<double>& dx) const
    {
        const Vec3<double> fractions = to_fractions<tilted>(dx);
        return {x.x + displacement_to_fixed(fractions.x), x.y + displacement_to_fixed(fractions.y),
                x.z + displacement_to_fixed(fractions.z)};
    }

private:
    template <bool tilted = true>
    PARHELION_HD Vec3<double> to_fractions(const Vec3<double>& nm) const
    {
        const Vec3<double>& per_nm = inverse_diagonal_;
        if constexpr (!tilted) { return {nm.x * per_nm.x, nm.y * per_nm.y, nm.z * per_nm.z}; }
        const Vec3<double>& tilt = edges_.tilt();
        const double z = nm.z * per_nm.z, y = (nm.y - z * tilt.z) * per_nm.y;
        return {(nm.x - y * tilt.x - z * tilt.y) * per_nm.x, y, z};
    }
    PARHELION_HD static Fixed component_to_fixed(double fraction)
    {
        return displacement_to_fixed(fraction - std::floor(fraction) - 0.5) + half;
    }
    // Converts a fraction of the box in [-0.5, 0.5] to fixed point; -0.5 and +0.5 are the same point.
    PARHELION_HD static Fixed displacement_to_fixed(double fraction)
    {
        if constexpr (bits == 32) { return static_cast<Fixed>(std::llrint(fraction * 0x1p32)); }
        else
        {
            // +2^63 does not fit a long long. So the value is converted exactly in two parts, which are added with wrap-around.
            const auto part = static_cast<Fixed>(static_cast<Signed>(std::llrint(fraction * 0x1p62)));
            const double rest = fraction * 0x1p63 - 2 * static_cast<double>(static_cast<Signed>(part));
            return (part << 2) + (static_cast<Fixed>(static_cast<Signed>(std::llrint(2 * rest))));
        }
    }
    static constexpr Fixed half = Fixed{1} << (bits - 1);

    Box<double> edges_{1, 1, 1}, unit_;
    Vec3<double> inverse_diagonal_{1, 1, 1};
    double sure2_ = std::numeric_limits<double>::infinity(); // nm^2: a difference up to this length is the nearest image
};

} // namespace parhelion
