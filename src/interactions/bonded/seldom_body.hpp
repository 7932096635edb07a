// SPDX-License-Identifier: Apache-2.0
// Force laws of rare bonded terms, in the same form as the laws in bonded_body.hpp.
#pragma once

#include "interactions/bonded/bonded_body.hpp"

#include <cmath>

namespace parhelion {

// V = D (1 - exp(-beta (r - r0)))^2 (Morse, Phys. Rev. 34, 57 (1929))
template <class T>
struct MorseBond
{
    static constexpr int atoms = 2;
    T length, depth, beta; // nm, kJ/mol, 1/nm

    PARHELION_HD BondedForces<T, 1> operator()(const Vec3<T>* d) const
    {
        const T r = norm(d[0]), decay = std::exp(-beta * (r - length)), rise = 1 - decay;
        const T scale = r > 0 ? -2 * depth * beta * rise * decay / r : T(0);
        return {{depth * rise * rise}, {scale * d[0]}};
    }
};

// V = k (r - r0)^2 + k k_cubic (r - r0)^3. Beyond its barrier V falls without limit (GROMACS manual, "Cubic bond stretching").
template <class T>
struct CubicBond
{
    static constexpr int atoms = 2;
    T length, k, cubic; // nm, kJ/mol/nm^2, 1/nm

    PARHELION_HD BondedForces<T, 1> operator()(const Vec3<T>* d) const
    {
        const T r = norm(d[0]), stretch = r - length;
        const T scale = r > 0 ? -k * stretch * (2 + 3 * cubic * stretch) / r : T(0);
        return {{k * stretch * stretch * (1 + cubic * stretch)}, {scale * d[0]}};
    }
};

// V = -1/2 k b^2 ln(1 - r^2 / b^2). The bond is always shorter than b (Kremer and Grest, J. Chem. Phys. 92, 5057 (1990)).
template <class T>
struct FeneBond
{
    static constexpr int atoms = 2;
    T longest, k; // nm, kJ/mol/nm^2

    PARHELION_HD BondedForces<T, 1> operator()(const Vec3<T>* d) const
    {
        // From r = (1 - 5e-7) b on, 1 - r^2 / b^2 is kept at 1e-6: the force is huge, but finite.
        const T least = T(1e-6), longest2 = longest * longest, part = 1 - norm2(d[0]) / longest2,
                left = part > least ? part : least;
        return {{T(-0.5) * k * longest2 * std::log(left)}, {(-k / left) * d[0]}};
    }
};

// V = sum over n of c_n (theta - theta0)^n
template <class T>
struct QuarticAngle
{
    static constexpr int atoms = 3;
    T angle, c[5]; // rad, kJ/mol/rad^n

    PARHELION_HD BondedForces<T, 2> operator()(const Vec3<T>* d) const
    {
        const AngleGeometry<T> g(d);
        const T bend = g.theta - angle;
        T value = c[4], slope = 0; // Horner's scheme: polynomial and derivative
        for (int n = 3; n >= 0; --n)
        {
            slope = slope * bend + value;
            value = value * bend + c[n];
        }
        return {{value}, {-slope * g.gradient[0], -slope * g.gradient[1]}};
    }
};

// V = k (r_01 - r1) (r_21 - r2) (GROMACS manual, "Bond-Bond cross term")
template <class T>
struct CrossBondBond
{
    static constexpr int atoms = 3;
    T first, second, k; // nm, nm, kJ/mol/nm^2

    PARHELION_HD BondedForces<T, 2> operator()(const Vec3<T>* d) const
    {
        const T a = norm(d[0]), b = norm(d[1]), stretch_a = a - first, stretch_b = b - second;
        const T scale_a = a > 0 ? -k * stretch_b / a : T(0), scale_b = b > 0 ? -k * stretch_a / b : T(0);
        return {{k * stretch_a * stretch_b}, {scale_a * d[0], scale_b * d[1]}};
    }
};

// V = k (r_02 - r3) (r_01 - r1 + r_21 - r2) (GROMACS manual, "Bond-Angle cross term")
template <class T>
struct CrossBondAngle
{
    static constexpr int atoms = 3;
    T sides, ends, k; // sides = r1 + r2, ends = r3, nm; kJ/mol/nm^2

    PARHELION_HD BondedForces<T, 2> operator()(const Vec3<T>* d) const
    {
        const Vec3<T> across = d[0] - d[1];
        const T a = norm(d[0]), b = norm(d[1]), c = norm(across), of_sides = a + b - sides, of_ends = c - ends;
        const Vec3<T> f = (c > 0 ? -k * of_sides / c : T(0)) * across;
        return {{k * of_ends * of_sides},
                {f + (a > 0 ? -k * of_ends / a : T(0)) * d[0], (b > 0 ? -k * of_ends / b : T(0)) * d[1] - f}};
    }
};

// V = 1/2 k (cos(phi) - cos(phi0))^2 / sin(phi)^2. The dihedral is never cis or trans (Bulacu et al., see RestrictedAngle).
template <class T>
struct RestrictedDihedral
{
    static constexpr int atoms = 4;
    T cosine, k; // kJ/mol

    PARHELION_HD BondedForces<T, 3> operator()(const Vec3<T>* d) const
    {
        const DihedralGeometry<T> g(d);
        // Within 1e-4 rad of a planar dihedral the sine is kept constant: the force is huge, but finite.
        const T least2 = T(1e-8), sine2 = g.sine * g.sine, s2 = sine2 > least2 ? sine2 : least2, turn = g.cosine - cosine;
        return g.forces(T(0.5) * k * turn * turn / s2, -k * turn * (1 - g.cosine * cosine) * g.sine / (s2 * s2));
    }
};

// V = sin(theta1)^3 sin(theta2)^3 sum over n of a_n cos(phi)^n, with dihedral phi and theta1, theta2 the angles at atoms 1 and
// 2. The torsion vanishes if three atoms become collinear (Bulacu and van der Giessen, J. Chem. Phys. 123, 114901 (2005)).
//
// With m = d0 x d1, n = d2 x d1 (d: bond vectors) and c = m n / |m||n|, V is (|m||n|)^3 times the sum
// over k of a_k c^k, divided by powers of bond lengths. No term grows as a sine goes to 0.
template <class T>
struct BendingTorsion
{
    static constexpr int atoms = 4;
    T a[5]; // kJ/mol

    PARHELION_HD BondedForces<T, 3> operator()(const Vec3<T>* d) const
    {
        const Vec3<T> m = cross(d[0], d[1]), n = cross(d[2], d[1]);
        const T m2 = norm2(m), n2 = norm2(n), q = std::sqrt(m2 * n2);
        if (!(q > 0)) { return {}; }
        const T p = dot(m, n), c = p / q, q2 = q * q;
        // F = q^3 sum a_n c^n, and its derivatives by p and q
        const T sum = a[0] + c * (a[1] + c * (a[2] + c * (a[3] + c * a[4])));
        const T slope = a[1] + c * (2 * a[2] + c * (3 * a[3] + c * 4 * a[4]));
        const T by_p = q2 * slope, by_q = q2 * (3 * sum - c * slope);
        const T d02 = norm2(d[0]), d12 = norm2(d[1]), d22 = norm2(d[2]);
        const T weight = 1 / (d02 * d22 * d12 * d12 * d12 * std::sqrt(d02 * d22)), energy = weight * q2 * q * sum;
        const Vec3<T> by_m = (weight * by_p) * n + (weight * by_q * q / m2) * m;
        const Vec3<T> by_n = (weight * by_p) * m + (weight * by_q * q / n2) * n;
        return {{energy},
                {(3 * energy / d02) * d[0] - cross(d[1], by_m), (6 * energy / d12) * d[1] - cross(by_m, d[0]) - cross(by_n, d[2]),
                 (3 * energy / d22) * d[2] - cross(d[1], by_n)}};
    }
};

} // namespace parhelion
