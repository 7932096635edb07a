// SPDX-License-Identifier: Apache-2.0
// The periodic cell of a system, nm: edge vectors a = (xx, 0, 0), b = (yx, yy, 0), c = (zx, zy, zz), as GROMACS writes them.
//
// Positions are fractions of the edge vectors: x = ux a + uy b + uz c. A rectangular cell has zero tilt. For
// a rectangular cell all functions are exact, because the terms of the tilt add zero, which changes no bit.
#pragma once

#include "base/vec3.hpp"

#include <cmath>

namespace parhelion {

template <class T>
class Box
{
public:
    Box() = default;
    // Makes a rectangular cell from the lengths of its edges.
    PARHELION_HD constexpr Box(const Vec3<T>& lengths) : diagonal_(lengths) {} // NOLINT(google-explicit-constructor)
    PARHELION_HD constexpr Box(T x, T y, T z) : diagonal_{x, y, z} {}
    // Makes a cell from its diagonal (xx, yy, zz) and its tilt (yx, zx, zy).
    PARHELION_HD constexpr Box(const Vec3<T>& diagonal, const Vec3<T>& tilt) : diagonal_(diagonal), tilt_(tilt) {}
    template <class U>
    PARHELION_HD constexpr explicit operator Box<U>() const
    {
        return {static_cast<Vec3<U>>(diagonal_), static_cast<Vec3<U>>(tilt_)};
    }

    PARHELION_HD constexpr const Vec3<T>& diagonal() const { return diagonal_; }
    PARHELION_HD constexpr Vec3<T>& diagonal() { return diagonal_; }
    PARHELION_HD constexpr const Vec3<T>& tilt() const { return tilt_; }
    PARHELION_HD constexpr bool is_rectangular() const { return tilt_ == Vec3<T>{}; }
    // Returns yx / yy, zx / zz, zy / zz: how far the cell leans along x and y, per nm along y and z. If d is a difference of
    // fractional coordinates times diagonal(), then d.x += d.y yx/yy + d.z zx/zz and d.y += d.z zy/zz make it a difference in nm.
    PARHELION_HD constexpr Vec3<T> shear() const { return {tilt_.x / diagonal_.y, tilt_.y / diagonal_.z, tilt_.z / diagonal_.z}; }
    PARHELION_HD constexpr T volume() const { return diagonal_.x * diagonal_.y * diagonal_.z; }
    PARHELION_HD Vec3<T> edge_lengths() const
    {
        return {diagonal_.x, norm(Vec3<T>{tilt_.x, diagonal_.y, 0}), norm(Vec3<T>{tilt_.y, tilt_.z, diagonal_.z})};
    }
    // Returns the distances between opposite faces: a slab that takes a fraction f of edge d is f * heights()[d] thick.
    PARHELION_HD Vec3<T> heights() const
    {
        const T yx = tilt_.x / diagonal_.y, zy = tilt_.z / diagonal_.z, zx = tilt_.y / diagonal_.z - yx * zy;
        return {diagonal_.x / std::sqrt(1 + yx * yx + zx * zx), diagonal_.y / std::sqrt(1 + zy * zy), diagonal_.z};
    }

    PARHELION_HD T least_height() const
    {
        const Vec3<T> h = heights();
        const T xy = h.x < h.y ? h.x : h.y;
        return xy < h.z ? xy : h.z;
    }

    // Returns the smaller of the least height and half the shortest vector between two images of one atom, nm. A cut-off
    // up to this finds at most one image of an atom. Precondition: no edge leans by more than half of another one.
    PARHELION_HD T largest_cutoff() const
    {
        const T height = least_height();
        if (is_rectangular()) { return height / 2; }
        T shortest2 = 4 * height * height; // (2 height)^2, since the result is at most the height
        for (int k = 14; k < 27; ++k)      // visits one of each two opposite vectors to neighbouring images
        {
            const T x = static_cast<T>(k % 3 - 1), y = static_cast<T>(k / 3 % 3 - 1), z = static_cast<T>(k / 9 - 1);
            const T length2 = norm2(to_nm({x, y, z}));
            shortest2 = length2 < shortest2 ? length2 : shortest2;
        }
        return std::sqrt(shortest2) / 2;
    }
    // Returns whether a wrapped difference within the cut-off may fail to be the nearest image. A rectangular cell returns false.
    PARHELION_HD bool is_low(T cutoff) const { return !is_rectangular() && 2 * cutoff > least_height(); }

    PARHELION_HD constexpr Vec3<T> to_nm(const Vec3<T>& fractions) const
    {
        return {fractions.x * diagonal_.x + fractions.y * tilt_.x + fractions.z * tilt_.y,
                fractions.y * diagonal_.y + fractions.z * tilt_.z, fractions.z * diagonal_.z};
    }
    PARHELION_HD constexpr Vec3<T> to_fractions(const Vec3<T>& nm) const
    {
        const T z = nm.z / diagonal_.z, y = (nm.y - z * tilt_.z) / diagonal_.y;
        return {(nm.x - y * tilt_.x - z * tilt_.y) / diagonal_.x, y, z};
    }
    // Returns the nearest image of a difference of two positions (nm), if that image is shorter than every height
    // of the box. Otherwise returns an image that is within half an edge vector in z, then in y, then in x.
    PARHELION_HD Vec3<T> image(Vec3<T> difference) const
    {
        // Most components are within half an edge already. The test avoids calls of a rounding function, which is slow.
        const auto is_beyond = [](T component, T edge) { return !(std::abs(component) <= edge / 2); };
        if (is_beyond(difference.z, diagonal_.z))
        {
            difference -= std::round(difference.z / diagonal_.z) * Vec3<T>{tilt_.y, tilt_.z, diagonal_.z};
        }
        if (is_beyond(difference.y, diagonal_.y))
        {
            difference -= std::round(difference.y / diagonal_.y) * Vec3<T>{tilt_.x, diagonal_.y, 0};
        }
        if (is_beyond(difference.x, diagonal_.x)) { difference.x -= std::round(difference.x / diagonal_.x) * diagonal_.x; }
        return is_rectangular() ? difference : nearest(difference);
    }
    // Returns this cell after a strain along x, y and z that changes its diagonal to the given one.
    PARHELION_HD constexpr Box with_diagonal(const Vec3<T>& diagonal) const
    {
        const T x = diagonal.x / diagonal_.x, y = diagonal.y / diagonal_.y;
        return {diagonal, {tilt_.x * x, tilt_.y * x, tilt_.z * y}};
    }
    PARHELION_HD constexpr Box& operator*=(T s) { return diagonal_ *= s, tilt_ *= s, *this; }
    friend PARHELION_HD constexpr Box operator*(T s, Box box) { return box *= s; }
    friend constexpr bool operator==(const Box&, const Box&) = default;

private:
    // Returns the nearest image of `difference`, which must be within half an edge vector along z and y already.
    PARHELION_HD Vec3<T> nearest(const Vec3<T>& difference) const
    {
        const T half = least_height() / 2;
        if (norm2(difference) <= half * half) { return difference; }
        Vec3<T> least = difference;
        for (int n = 0; n < 9; ++n)
        {
            Vec3<T> image = difference + to_nm({0, static_cast<T>(n % 3 - 1), static_cast<T>(n / 3 - 1)});
            image.x -= std::round(image.x / diagonal_.x) * diagonal_.x;
            if (norm2(image) < norm2(least)) { least = image; }
        }
        return least;
    }

    Vec3<T> diagonal_, tilt_;
};

} // namespace parhelion
