// SPDX-License-Identifier: Apache-2.0
// The maths of SETTLE for one water, without branches so that loops over waters become vector code. Symbols as in the paper.
#pragma once

#include "dynamics/settle.hpp"

#include <cmath>

namespace parhelion {

// The corrections that bring the displaced atoms back to the rigid shape; see SettleBatch for the arguments.
struct SettleCorrection
{
    Vec3<double> o, a, b;
    double margin;
};

PARHELION_HD inline double clamped_sqrt(double square) { return std::sqrt(square > 0 ? square : 0); }

PARHELION_HD inline SettleCorrection settle_body(const SettleWater& water, const Vec3<double>& oh_a, const Vec3<double>& oh_b,
                                                 const Vec3<double>& move_o, const Vec3<double>& move_a,
                                                 const Vec3<double>& move_b)
{
    // Displaced atoms relative to their centre of mass, which no constraint force moves. The origin is the reference oxygen.
    const Vec3<double> new_a = oh_a + move_a, new_b = oh_b + move_b;
    const double inverse_total = 1 / (water.mass_o + 2 * water.mass_h);
    const Vec3<double> com = (water.mass_o * inverse_total) * move_o + (water.mass_h * inverse_total) * (new_a + new_b);
    const Vec3<double> a1 = move_o - com, b1 = new_a - com, c1 = new_b - com;

    // Axes: z normal to the reference triangle, y such that the displaced oxygen lies in the yz plane.
    Vec3<double> z = cross(oh_a, oh_b);
    Vec3<double> x = cross(a1, z);
    Vec3<double> y = cross(z, x);
    z *= 1 / std::sqrt(norm2(z));
    x *= 1 / std::sqrt(norm2(x));
    y *= 1 / std::sqrt(norm2(y));
    const double xb0 = dot(x, oh_a), yb0 = dot(y, oh_a), xc0 = dot(x, oh_b), yc0 = dot(y, oh_b);
    const double za1 = dot(z, a1);
    const double xb1 = dot(x, b1), yb1 = dot(y, b1), zb1 = dot(z, b1);
    const double xc1 = dot(x, c1), yc1 = dot(y, c1), zc1 = dot(z, c1);

    // Tilts phi and psi put the rigid triangle at the heights of the displaced atoms.
    const double sin_phi = za1 / water.ra;
    const double cos2_phi = 1 - sin_phi * sin_phi;
    const double cos_phi = clamped_sqrt(cos2_phi);
    const double sin_psi = (zb1 - zc1) / (2 * water.rc * cos_phi);
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
    const double sin_theta = (alpha * gamma - beta * clamped_sqrt(discriminant)) / square;
    const double cos2_theta = 1 - sin_theta * sin_theta;
    const double cos_theta = clamped_sqrt(cos2_theta);

    const Vec3<double> a3{-ya2 * sin_theta, ya2 * cos_theta, za1};
    const Vec3<double> b3{xb2 * cos_theta - yb2 * sin_theta, xb2 * sin_theta + yb2 * cos_theta, zb1};
    const Vec3<double> c3{-xb2 * cos_theta - yc2 * sin_theta, -xb2 * sin_theta + yc2 * cos_theta, zc1};
    double margin = cos2_phi;
    margin = cos2_psi < margin ? cos2_psi : margin;
    margin = discriminant < margin * square ? discriminant / square : margin;
    return {a3.x * x + a3.y * y + a3.z * z - a1, b3.x * x + b3.y * y + b3.z * z - b1, c3.x * x + c3.y * y + c3.z * z - c1,
            margin};
}

} // namespace parhelion
