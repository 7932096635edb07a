// SPDX-License-Identifier: Apache-2.0
// Three-component vectors and 3x3 tensors: the only linear algebra of the engine. Aggregates, usable on host and device.
#pragma once

#include "base/host_device.hpp"

#include <cmath>

namespace parhelion {

template <class T>
struct Vec3
{
    T x{}, y{}, z{};

    PARHELION_HD constexpr T& operator[](int d) { return d == 0 ? x : d == 1 ? y : z; }
    PARHELION_HD constexpr const T& operator[](int d) const { return d == 0 ? x : d == 1 ? y : z; }

    template <class U>
    PARHELION_HD constexpr explicit operator Vec3<U>() const
    {
        return {static_cast<U>(x), static_cast<U>(y), static_cast<U>(z)};
    }
    PARHELION_HD constexpr Vec3& operator+=(const Vec3& b) { return x += b.x, y += b.y, z += b.z, *this; }
    PARHELION_HD constexpr Vec3& operator-=(const Vec3& b) { return x -= b.x, y -= b.y, z -= b.z, *this; }
    PARHELION_HD constexpr Vec3& operator*=(T s) { return x *= s, y *= s, z *= s, *this; }
    friend constexpr bool operator==(const Vec3&, const Vec3&) = default;
};

template <class T>
PARHELION_HD constexpr Vec3<T> operator+(Vec3<T> a, const Vec3<T>& b)
{
    return a += b;
}
template <class T>
PARHELION_HD constexpr Vec3<T> operator-(Vec3<T> a, const Vec3<T>& b)
{
    return a -= b;
}
template <class T>
PARHELION_HD constexpr Vec3<T> operator-(const Vec3<T>& a)
{
    return {-a.x, -a.y, -a.z};
}
template <class T>
PARHELION_HD constexpr Vec3<T> operator*(T s, Vec3<T> a)
{
    return a *= s;
}
template <class T>
PARHELION_HD constexpr Vec3<T> operator*(Vec3<T> a, T s)
{
    return a *= s;
}

template <class T>
PARHELION_HD constexpr T dot(const Vec3<T>& a, const Vec3<T>& b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
PARHELION_HD constexpr Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
PARHELION_HD constexpr T norm2(const Vec3<T>& a)
{
    return dot(a, a);
}
template <class T>
PARHELION_HD T norm(const Vec3<T>& a)
{
    return std::sqrt(norm2(a));
}

// A 3x3 tensor, stored row by row.
template <class T>
struct Mat3
{
    Vec3<T> row[3];

    PARHELION_HD constexpr Vec3<T>& operator[](int d) { return row[d]; }
    PARHELION_HD constexpr const Vec3<T>& operator[](int d) const { return row[d]; }
    PARHELION_HD constexpr Mat3& operator+=(const Mat3& b) { return row[0] += b[0], row[1] += b[1], row[2] += b[2], *this; }
    PARHELION_HD constexpr Mat3& operator*=(T s) { return row[0] *= s, row[1] *= s, row[2] *= s, *this; }
    friend constexpr bool operator==(const Mat3&, const Mat3&) = default;
};

template <class T>
PARHELION_HD constexpr T trace(const Mat3<T>& m)
{
    return m[0].x + m[1].y + m[2].z;
}
template <class T>
PARHELION_HD constexpr Vec3<T> diagonal(const Mat3<T>& m)
{
    return {m[0].x, m[1].y, m[2].z};
}
template <class T>
PARHELION_HD constexpr Mat3<T> outer(const Vec3<T>& a, const Vec3<T>& b)
{
    return {a.x * b, a.y * b, a.z * b};
}
template <class T>
PARHELION_HD constexpr Mat3<T> operator+(Mat3<T> a, const Mat3<T>& b)
{
    return a += b;
}
template <class T>
PARHELION_HD constexpr Mat3<T> operator*(T s, Mat3<T> a)
{
    return a *= s;
}

} // namespace parhelion
