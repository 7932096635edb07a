// SPDX-License-Identifier: Apache-2.0
// The maths of SETTLE for one water, without branches so that loops over waters become vector code. Symbols as in the paper.
#pragma once

#include "dynamics/settle.hpp"

#include <cmath>

namespace parhelion {

// Where the rigid triangle goes: its corners along the axes of the triangle before the step, from the centre of mass, which no
// constraint force moves.
struct SettleTriangle
{
    Vec3<double> x, y, z; // axes
    Vec3<double> o, a, b; // corners along them, nm
    Vec3<double> com;     // displaced, from the reference oxygen, nm
    double margin;        // see SettleBatch

    // Of a displaced atom, given from the reference oxygen, to its corner.
    PARHELION_HD Vec3<double> correction(const Vec3<double>& corner, const Vec3<double>& moved) const
    {
        return corner.x * x + corner.y * y + corner.z * z - (moved - com);
    }
};

PARHELION_HD inline double clamped_sqrt(double square) { return std::sqrt(square > 0 ? square : 0); }
PARHELION_HD inline double inverse_sqrt(double square)
{
#ifdef __CUDA_ARCH__
    return rsqrt(square);
#else
    return 1 / std::sqrt(square);
#endif
}

// oh_a, oh_b: from oxygen to the hydrogens before the step; o, a, b: the displaced atoms from the reference oxygen, nm.
PARHELION_HD inline SettleTriangle settle_triangle(const SettleWater& water, const Vec3<double>& oh_a, const Vec3<double>& oh_b,
                                                   const Vec3<double>& o, const Vec3<double>& a, const Vec3<double>& b)
{
    SettleTriangle t;
    t.com = water.share_o * o + water.share_h * (a + b);
    const Vec3<double> a1 = o - t.com, b1 = a - t.com, c1 = b - t.com;

    // Axes: z normal to the reference triangle, y such that the displaced oxygen lies in the yz plane.
    t.z = cross(oh_a, oh_b);
    t.x = cross(a1, t.z);
    t.y = cross(t.z, t.x);
    const double inverse_z = inverse_sqrt(norm2(t.z)), inverse_x = inverse_sqrt(norm2(t.x));
    t.z *= inverse_z;
    t.x *= inverse_x;
    t.y *= inverse_z * inverse_x;
    const double xb0 = dot(t.x, oh_a), yb0 = dot(t.y, oh_a), xc0 = dot(t.x, oh_b), yc0 = dot(t.y, oh_b);
    const double za1 = dot(t.z, a1);
    const double xb1 = dot(t.x, b1), yb1 = dot(t.y, b1), zb1 = dot(t.z, b1);
    const double xc1 = dot(t.x, c1), yc1 = dot(t.y, c1), zc1 = dot(t.z, c1);

    // Tilts phi and psi put the rigid triangle at the heights of the displaced atoms.
    const double sin_phi = za1 * water.inverse_ra;
    const double cos2_phi = 1 - sin_phi * sin_phi;
    const double inverse_cos_phi = inverse_sqrt(cos2_phi);
    const double cos_phi = cos2_phi * inverse_cos_phi;
    const double sin_psi = (zb1 - zc1) * (water.inverse_2rc * inverse_cos_phi);
    const double cos2_psi = 1 - sin_psi * sin_psi;
    const double cos_psi = clamped_sqrt(cos2_psi);
    const double ya2 = water.ra * cos_phi;
    const double xb2 = -water.rc * cos_psi;
    const double yb2 = -water.rb * cos_phi - water.rc * sin_psi * sin_phi;
    const double yc2 = -water.rb * cos_phi + water.rc * sin_psi * sin_phi;

    // Rotation theta about z: constraint forces along the reference bonds exert no torque about z.
    const double alpha = xb2 * (xb0 - xc0) + yb0 * yb2 + yc0 * yc2;
    const double beta = xb2 * (yc0 - yb0) + xb0 * yb2 + xc0 * yc2;
    const double gamma = xb0 * yb1 - xb1 * yb0 + xc0 * yc1 - xc1 * yc0;
    const double square = alpha * alpha + beta * beta;
    const double discriminant = square - gamma * gamma;
    const double inverse_square = 1 / square;
    const double sin_theta = (alpha * gamma - beta * clamped_sqrt(discriminant)) * inverse_square;
    const double cos2_theta = 1 - sin_theta * sin_theta;
    const double cos_theta = clamped_sqrt(cos2_theta);

    t.o = {-ya2 * sin_theta, ya2 * cos_theta, za1};
    t.a = {xb2 * cos_theta - yb2 * sin_theta, xb2 * sin_theta + yb2 * cos_theta, zb1};
    t.b = {-xb2 * cos_theta - yc2 * sin_theta, -xb2 * sin_theta + yc2 * cos_theta, zc1};
    t.margin = cos2_phi;
    t.margin = cos2_psi < t.margin ? cos2_psi : t.margin;
    t.margin = discriminant < t.margin * square ? discriminant * inverse_square : t.margin;
    return t;
}

} // namespace parhelion
