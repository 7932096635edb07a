// SPDX-License-Identifier: Apache-2.0
// The formulas of SETTLE for one water. They have no branches, so loops over waters are vectorised. Symbols are the paper's.
#pragma once

#include "dynamics/fused.hpp"
#include "dynamics/settle.hpp"

#include <cmath>

namespace parhelion {

// The new place of the rigid triangle. Corners are given along the axes of the triangle
// before the step, relative to the centre of mass, which no constraint force moves.
struct SettleTriangle
{
    Vec3<double> x, y, z; // axes of the frame
    Vec3<double> o, a, b; // corners in this frame, nm
    Vec3<double> com;     // displaced centre of mass, seen from the reference oxygen, nm
    double margin;        // see SettleBatch::margin

    // Returns the vector from a displaced atom to its corner, nm. moved: the displaced atom, relative to the reference oxygen.
    PARHELION_HD Vec3<double> correction(const Vec3<double>& corner, const Vec3<double>& moved) const
    {
        using fused::multiply_add;
        return multiply_add(corner.x, x, multiply_add(corner.y, y, multiply_add(corner.z, z, com - moved)));
    }
};

PARHELION_HD inline double clamped_sqrt(double square) { return std::sqrt(square > 0 ? square : 0); }
PARHELION_HD inline double inverse_sqrt(double square)
{
#ifdef PARHELION_ON_DEVICE
    return rsqrt(square);
#else
    return 1 / std::sqrt(square);
#endif
}

// Returns the new triangle. oh_a, oh_b: see SettleBatch. o, a, b: displaced atoms, relative to the reference oxygen, nm.
PARHELION_HD inline SettleTriangle settle_triangle(const SettleWater& water, const Vec3<double>& oh_a, const Vec3<double>& oh_b,
                                                   const Vec3<double>& o, const Vec3<double>& a, const Vec3<double>& b)
{
    using fused::multiply_add;
    SettleTriangle t;
    t.com = multiply_add(water.share_o, o, water.share_h * (a + b));
    const Vec3<double> a1 = o - t.com, b1 = a - t.com, c1 = b - t.com;

    // The z axis is normal to the reference triangle. The displaced oxygen is in the yz plane.
    t.z = fused::cross(oh_a, oh_b);
    t.x = fused::cross(a1, t.z);
    t.y = fused::cross(t.z, t.x);
    const double inverse_z = inverse_sqrt(fused::norm2(t.z)), inverse_x = inverse_sqrt(fused::norm2(t.x));
    t.z *= inverse_z;
    t.x *= inverse_x;
    t.y *= inverse_z * inverse_x;
    const double xb0 = fused::dot(t.x, oh_a), yb0 = fused::dot(t.y, oh_a), xc0 = fused::dot(t.x, oh_b),
                 yc0 = fused::dot(t.y, oh_b);
    const double za1 = fused::dot(t.z, a1);
    const double xb1 = fused::dot(t.x, b1), yb1 = fused::dot(t.y, b1), zb1 = fused::dot(t.z, b1);
    const double xc1 = fused::dot(t.x, c1), yc1 = fused::dot(t.y, c1), zc1 = fused::dot(t.z, c1);

    // The tilts phi and psi move the corners of the rigid triangle to the heights (z) of the displaced atoms.
    const double sin_phi = za1 * water.inverse_ra;
    const double cos2_phi = multiply_add(-sin_phi, sin_phi, 1);
    const double inverse_cos_phi = inverse_sqrt(cos2_phi);
    const double cos_phi = cos2_phi * inverse_cos_phi;
    const double sin_psi = (zb1 - zc1) * (water.inverse_2rc * inverse_cos_phi);
    const double cos2_psi = multiply_add(-sin_psi, sin_psi, 1);
    const double cos_psi = clamped_sqrt(cos2_psi);
    const double ya2 = water.ra * cos_phi;
    const double xb2 = -water.rc * cos_psi;
    const double height = -water.rb * cos_phi, tilt = water.rc * sin_psi;
    const double yb2 = multiply_add(-tilt, sin_phi, height);
    const double yc2 = multiply_add(tilt, sin_phi, height);

    // Rotates by theta about z. Constraint forces along the reference bonds exert no torque about z.
    const double alpha = multiply_add(xb2, xb0 - xc0, multiply_add(yb0, yb2, yc0 * yc2));
    const double beta = multiply_add(xb2, yc0 - yb0, multiply_add(xb0, yb2, xc0 * yc2));
    const double gamma = multiply_add(xb0, yb1, multiply_add(-xb1, yb0, multiply_add(xc0, yc1, -(xc1 * yc0))));
    const double square = multiply_add(alpha, alpha, beta * beta);
    const double discriminant = multiply_add(-gamma, gamma, square);
    const double inverse_square = 1 / square;
    const double sin_theta = multiply_add(alpha, gamma, -(beta * clamped_sqrt(discriminant))) * inverse_square;
    const double cos2_theta = multiply_add(-sin_theta, sin_theta, 1);
    const double cos_theta = clamped_sqrt(cos2_theta);

    t.o = {-ya2 * sin_theta, ya2 * cos_theta, za1};
    const double x2 = xb2 * cos_theta, y2 = xb2 * sin_theta;
    t.a = {multiply_add(-yb2, sin_theta, x2), multiply_add(yb2, cos_theta, y2), zb1};
    t.b = {multiply_add(-yc2, sin_theta, -x2), multiply_add(yc2, cos_theta, -y2), zc1};
    t.margin = cos2_phi;
    t.margin = cos2_psi < t.margin ? cos2_psi : t.margin;
    t.margin = discriminant < t.margin * square ? discriminant * inverse_square : t.margin;
    return t;
}

// Changes of a vector (a velocity or displacement) of each atom of a water.
struct SettlePush
{
    Vec3<double> o, a, b;
};

// Returns the changes of the vectors o, a and b of a water's atoms that forces along the three sides cause, so that no side
// changes its length to first order, up to rounding. oh_a, oh_b: the water, as in SettleBatch.
PARHELION_HD inline SettlePush settle_projection(const SettleWater& water, const Vec3<double>& oh_a, const Vec3<double>& oh_b,
                                                 const Vec3<double>& o, const Vec3<double>& a, const Vec3<double>& b)
{
    const Vec3<double> side[3] = {oh_a, oh_b, oh_b - oh_a};
    const double per_o = 1 / water.mass_o, per_h = 1 / water.mass_h;
    // Row i: the rates at which unit multipliers of the sides change side i. The last column: the negative of its present rate.
    double m[3][4] = {
        {dot(oh_a, oh_a) * (per_h + per_o), dot(oh_a, oh_b) * per_o, -dot(oh_a, side[2]) * per_h, -dot(oh_a, a - o)},
        {0, dot(oh_b, oh_b) * (per_h + per_o), dot(oh_b, side[2]) * per_h, -dot(oh_b, b - o)},
        {0, 0, 2 * dot(side[2], side[2]) * per_h, -dot(side[2], b - a)}};
    m[1][0] = m[0][1], m[2][0] = m[0][2], m[2][1] = m[1][2];
    for (int k = 0; k < 2; ++k) // the matrix is positive definite: no pivoting
    {
        for (int i = k + 1; i < 3; ++i)
        {
            const double factor = m[i][k] / m[k][k];
            for (int j = k + 1; j < 4; ++j) { m[i][j] -= factor * m[k][j]; }
        }
    }
    const double of_sides = m[2][3] / m[2][2];
    const double of_b = (m[1][3] - m[1][2] * of_sides) / m[1][1];
    const double of_a = (m[0][3] - m[0][1] * of_b - m[0][2] * of_sides) / m[0][0];
    return {-per_o * (of_a * oh_a + of_b * oh_b), per_h * (of_a * oh_a - of_sides * side[2]),
            per_h * (of_b * oh_b + of_sides * side[2])};
}

} // namespace parhelion
