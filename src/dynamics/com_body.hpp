// SPDX-License-Identifier: Apache-2.0
// The motion of a group of atoms as a whole, from sums over its atoms, for host and device.
#pragma once

#include "base/vec3.hpp"
#include "model/run_parameters.hpp"

namespace parhelion {

// The number of sums of a group: momentum and mass. With rotation there are also mass times
// position, angular momentum, and second moments of mass, all about the corner of the box.
inline constexpr int linear_com_sums = 4, angular_com_sums = 16;
PARHELION_HD constexpr int com_sum_count(ComMode mode) { return mode == ComMode::Angular ? angular_com_sums : linear_com_sums; }

// Computes an atom's part of the sums from mass (u), v (nm/ps) and, for rotation only, x (nm).
PARHELION_HD inline void com_products(ComMode mode, double mass, const Vec3<double>& v, const Vec3<double>& x, double* products)
{
    for (int d = 0; d < 3; ++d) { products[d] = mass * v[d]; }
    products[3] = mass;
    if (mode != ComMode::Angular) { return; }
    const Vec3<double> spin = mass * cross(x, v);
    for (int d = 0; d < 3; ++d)
    {
        products[4 + d] = mass * x[d], products[7 + d] = spin[d];
        products[10 + d] = mass * x[d] * x[d], products[13 + d] = mass * x[d] * x[d == 2 ? 0 : d + 1];
    }
}

// Returns the velocity along each axis of the atoms that move along this axis, nm/ps; 0 if none moves. mass: of all atoms.
PARHELION_HD inline Vec3<double> com_velocity(const Vec3<double>& momentum, double mass, const Vec3<double>& frozen)
{
    Vec3<double> velocity;
    for (int d = 0; d < 3; ++d)
    {
        const double moving = mass - frozen[d];
        if (moving > 0) { velocity[d] = 1 / moving * momentum[d]; }
    }
    return velocity;
}

struct Rotation
{
    Vec3<double> centre, rate; // nm, 1/ps
    double energy = 0;         // kJ/mol

    PARHELION_HD Vec3<double> at(const Vec3<double>& x) const { return cross(rate, x - centre); }
};

// Returns the rotation of a rigid body with the angular momentum of the group. `sum` is about the group's centre
// of mass. Atoms at one point or on a line have no inertia about some axis; for these the result is no rotation.
PARHELION_HD inline Rotation rotation_of(const double (&sum)[angular_com_sums])
{
    Rotation rotation;
    const double mass = sum[3];
    if (!(mass > 0)) { return rotation; }
    const Vec3<double> momentum{sum[0], sum[1], sum[2]}, centre = 1 / mass * Vec3<double>{sum[4], sum[5], sum[6]};
    const Vec3<double> angular = Vec3<double>{sum[7], sum[8], sum[9]} - cross(centre, momentum);
    const auto about_centre = [&](int k, int a, int b) { return sum[k] - mass * centre[a] * centre[b]; };
    const double xx = about_centre(10, 0, 0), yy = about_centre(11, 1, 1), zz = about_centre(12, 2, 2);
    const double xy = about_centre(13, 0, 1), yz = about_centre(14, 1, 2), zx = about_centre(15, 2, 0);
    const Vec3<double> row[3] = {{yy + zz, -xy, -zx}, {-xy, zz + xx, -yz}, {-zx, -yz, xx + yy}};
    const double determinant = dot(row[0], cross(row[1], row[2])), size = xx + yy + zz;
    constexpr double on_a_line = 1e-9; // relative inertia below which atoms are on a line; that of a water molecule is 0.05
    if (!(determinant > on_a_line * size * size * size)) { return rotation; }
    rotation.centre = centre;
    rotation.rate = 1 / determinant *
                    (angular.x * cross(row[1], row[2]) + angular.y * cross(row[2], row[0]) + angular.z * cross(row[0], row[1]));
    rotation.energy = 0.5 * dot(rotation.rate, angular);
    return rotation;
}

} // namespace parhelion
