// SPDX-License-Identifier: Apache-2.0
// Computes the place of a virtual site and spreads its force, by closed forms for CPU and GPU alike.
//
// d1, d2, d3: vectors from the first constructing atom to the others; p: parameters. The vector from the first atom to the site:
//
//   Linear, Mean     sum p[k-1] dk
//   FixedDistance2   p[0] d1 / |d1|                                       nm
//   FixedDistance3   p[1] m / |m|,  m = (1 - p[0]) d1 + p[0] d2           -, nm
//   FixedAngle3      p[0] d1 / |d1| + p[1] n / |n|                        nm, nm: distance times cosine and sine of the angle
//                    n = w - d1 (d1 w) / (d1 d1),  w = d2 - d1
//   OutOfPlane3      p[0] d1 + p[1] d2 + p[2] d1 x d2                     -, -, 1/nm
//   FixedDistance4   p[2] m / |m|,  m = (p[0] d2 - d1) x (p[1] d3 - d1)   -, -, nm
//
// Sources: Berendsen and van Gunsteren, in: Molecular Liquids - Dynamics and Interactions, Reidel 1984, p. 475; Feenstra,
// Hess and Berendsen, J. Comput. Chem. 20, 786 (1999); for FixedDistance4 the GROMACS manual, type 4fdn. A force f on the
// site becomes forces on the constructing atoms that do the same work: the transposed derivative of the site's place times
// f. The first atom gets the rest of f. An undefined direction, as of two atoms in one place, counts as a zero vector.
#pragma once

#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cmath>

namespace parhelion {

namespace site_detail {

constexpr int most_others = 3; // most constructing atoms besides the first, for all kinds but means

PARHELION_HD inline double inverse_length(const Vec3<double>& m)
{
    const double length = norm(m);
    return length > 0 ? 1 / length : 0;
}

// Returns the part of v that is perpendicular to the unit vector u.
PARHELION_HD inline Vec3<double> across(const Vec3<double>& v, const Vec3<double>& u) { return v - dot(v, u) * u; }

// Returns the force on m that is equivalent to a force f on length * m / |m|.
PARHELION_HD inline Vec3<double> force_on_direction(double length, const Vec3<double>& m, const Vec3<double>& f)
{
    const double inverse = inverse_length(m);
    return (length * inverse) * across(f, inverse * m);
}

PARHELION_HD inline Vec3<double> along(double length, const Vec3<double>& m) { return (length * inverse_length(m)) * m; }

PARHELION_HD inline void spread_fixed_angle(const double* p, const Vec3<double>* d, const Vec3<double>& f, Vec3<double>* on)
{
    const Vec3<double> w = d[1] - d[0];
    const double inverse = inverse_length(d[0]);
    const Vec3<double> u = inverse * d[0];
    const double along_u = dot(w, u);
    const Vec3<double> on_n = force_on_direction(p[1], w - along_u * u, f);
    const Vec3<double> on_u = p[0] * f - along_u * on_n; // n = w - u (u w): this is for its last u; the next lines add the first
    on[1] = across(on_n, u);
    on[0] = inverse * across(on_u - dot(u, on_n) * w, u) - on[1];
}

} // namespace site_detail

// Returns the vector from the first constructing atom to the site, nm. d: the `others` vectors from that atom to the other atoms.
PARHELION_HD inline Vec3<double> site_offset(SiteKind kind, const double* p, const Vec3<double>* d, int others)
{
    namespace detail = site_detail;
    switch (kind)
    {
    case SiteKind::Linear:
    case SiteKind::Mean: {
        Vec3<double> sum;
        for (int k = 0; k < others; ++k) { sum += p[k] * d[k]; }
        return sum;
    }
    case SiteKind::FixedDistance2:
        return detail::along(p[0], d[0]);
    case SiteKind::FixedDistance3:
        return detail::along(p[1], (1 - p[0]) * d[0] + p[0] * d[1]);
    case SiteKind::FixedAngle3: {
        const Vec3<double> w = d[1] - d[0];
        const Vec3<double> u = detail::along(1, d[0]);
        return p[0] * u + detail::along(p[1], detail::across(w, u));
    }
    case SiteKind::OutOfPlane3:
        return p[0] * d[0] + p[1] * d[1] + p[2] * cross(d[0], d[1]);
    case SiteKind::FixedDistance4:
        return detail::along(p[2], cross(p[0] * d[1] - d[0], p[1] * d[2] - d[0]));
    }
    return {};
}

// Spreads a force f on the site: constructing atoms 2, 3, ... get on[0] to on[others - 1]. Their d are as in site_offset().
PARHELION_HD inline void spread_force(SiteKind kind, const double* p, const Vec3<double>* d, int others, const Vec3<double>& f,
                                      Vec3<double>* on)
{
    namespace detail = site_detail;
    switch (kind)
    {
    case SiteKind::Linear:
    case SiteKind::Mean:
        for (int k = 0; k < others; ++k) { on[k] = p[k] * f; }
        return;
    case SiteKind::FixedDistance2:
        on[0] = detail::force_on_direction(p[0], d[0], f);
        return;
    case SiteKind::FixedDistance3: {
        const Vec3<double> on_m = detail::force_on_direction(p[1], (1 - p[0]) * d[0] + p[0] * d[1], f);
        on[0] = (1 - p[0]) * on_m, on[1] = p[0] * on_m;
        return;
    }
    case SiteKind::FixedAngle3:
        return detail::spread_fixed_angle(p, d, f, on);
    case SiteKind::OutOfPlane3:
        on[0] = p[0] * f + p[2] * cross(d[1], f), on[1] = p[1] * f + p[2] * cross(f, d[0]);
        return;
    case SiteKind::FixedDistance4: {
        const Vec3<double> a = p[0] * d[1] - d[0], b = p[1] * d[2] - d[0];
        const Vec3<double> on_m = detail::force_on_direction(p[2], cross(a, b), f);
        const Vec3<double> on_a = cross(b, on_m), on_b = cross(on_m, a);
        on[0] = -(on_a + on_b), on[1] = p[0] * on_a, on[2] = p[1] * on_b;
        return;
    }
    }
}

} // namespace parhelion
