// SPDX-License-Identifier: Apache-2.0
// The bonded force laws, one struct each: parameters, and a pure function from difference vectors to energy and forces.
//
// The idea: a term of n atoms is a function of n - 1 difference vectors d. A body returns f = -dE/dd for each d, i.e.
// minus the gradient of the energy. The rest is the same for all kinds. The atom at the head of d gets +f and the atom at
// its tail -f, so there is no net force. The virial is -1/2 sum d (x) f. The difference vectors, by number of atoms, are:
//  2 atoms   d0 = x0 - x1
//   3 atoms   d0 = x0 - x1, d1 = x2 - x1                    (the angle at atom 1)
//   4 atoms   d0 = x0 - x1, d1 = x2 - x1, d2 = x3 - x2      (the dihedral about the bond 1-2)
//   5 atoms   d0 = x0 - x1, d1 = x2 - x1, d2 = x3 - x2, d3 = x4 - x3, and so on
//
// Degenerate geometries give finite numbers. If a direction does not exist (two atoms on one point, three on a
// line), the force along it is zero, which is the mean over all directions. Units: nm, kJ/mol, radian. Cost: a
// bond takes one square root; an angle takes two and an arctangent; a dihedral takes one and no trigonometric
// function, but a harmonic improper also takes an arctangent. Measured in bench/forces/bonded_bench.cpp.
#pragma once

#include "base/vec3.hpp"

#include <cmath>

namespace parhelion {

// The result of a body: energies in kJ/mol, and f[i] = -dE/d(d[i]).
template <class T, int vectors, int energies = 1>
struct BondedForces
{
    T energy[energies];
    Vec3<T> f[vectors];
};

// Returns the result of a body. A body that reads a table also gets the tables of all terms.
template <class Body, class T>
PARHELION_HD auto evaluate(const Body& body, const Vec3<T>* d, const T* tables)
{
    if constexpr (requires { body(d, tables); }) { return body(d, tables); }
    else { return body(d); }
}

// V = 1/2 k (r - r0)^2
template <class T>
struct HarmonicBond
{
    static constexpr int atoms = 2;
    T length, k; // nm, kJ/mol/nm^2

    PARHELION_HD BondedForces<T, 1> operator()(const Vec3<T>* d) const
    {
        const T r = norm(d[0]), stretch = r - length;
        const T scale = r > 0 ? -k * stretch / r : T(0);
        return {{T(0.5) * k * stretch * stretch}, {scale * d[0]}};
    }
};

// V = 1/4 k (r^2 - r0^2)^2
template <class T>
struct G96Bond
{
    static constexpr int atoms = 2;
    T length, k; // nm, kJ/mol/nm^4

    PARHELION_HD BondedForces<T, 1> operator()(const Vec3<T>* d) const
    {
        const T stretch = norm2(d[0]) - length * length;
        return {{T(0.25) * k * stretch * stretch}, {-k * stretch * d[0]}};
    }
};

// Lennard-Jones and Coulomb energy of a 1-4 pair, neither cut off nor shifted: V = c12/r^12 - c6/r^6, and qq/r.
template <class T>
struct ScaledPair
{
    static constexpr int atoms = 2;
    T c6, c12; // kJ/mol nm^6, kJ/mol nm^12
    T qq;      // kJ/mol nm: product of the charges, Coulomb's constant and the scale factor

    PARHELION_HD BondedForces<T, 1, 2> operator()(const Vec3<T>* d) const
    {
        // Below 1e-3 nm the law keeps its value at that distance: huge, but finite also in single precision.
        const T nearest2 = T(1e-6), r2 = norm2(d[0]);
        const T inverse2 = 1 / (r2 > nearest2 ? r2 : nearest2);
        const T inverse6 = inverse2 * inverse2 * inverse2;
        const T dispersion = c6 * inverse6, repulsion = c12 * inverse6 * inverse6, coulomb = qq * std::sqrt(inverse2);
        const T scale = (12 * repulsion - 6 * dispersion + coulomb) * inverse2;
        return {{repulsion - dispersion, coulomb}, {scale * d[0]}};
    }
};

// The angle between two vectors and its gradients. It is exact to rounding at every angle, unlike an arccosine.
template <class T>
struct AngleGeometry
{
    T theta;
    Vec3<T> gradient[2]; // d(theta)/d(d[i])

    PARHELION_HD explicit AngleGeometry(const Vec3<T>* d)
    {
        const Vec3<T> normal = cross(d[0], d[1]);
        const T sine = norm(normal);
        theta = std::atan2(sine, dot(d[0], d[1]));
        // Each end moves perpendicular to its own vector, in the plane: d(theta)/da = a x n / a^2. On a line n is undefined.
        if (sine > 0)
        {
            const T a2 = norm2(d[0]), b2 = norm2(d[1]), inverse = 1 / (a2 * b2 * sine); // one division for two quotients
            gradient[0] = (b2 * inverse) * cross(d[0], normal);
            gradient[1] = (a2 * inverse) * cross(normal, d[1]);
        }
    }
};

// V = 1/2 k (theta - theta0)^2
template <class T>
struct HarmonicAngle
{
    static constexpr int atoms = 3;
    T angle, k; // rad, kJ/mol/rad^2

    PARHELION_HD BondedForces<T, 2> operator()(const Vec3<T>* d) const
    {
        const AngleGeometry<T> g(d);
        const T bend = g.theta - angle, scale = -k * bend;
        return {{T(0.5) * k * bend * bend}, {scale * g.gradient[0], scale * g.gradient[1]}};
    }
};

// V = 1/2 k (cos(theta) - cos(theta0))^2
template <class T>
struct G96Angle
{
    static constexpr int atoms = 3;
    T cosine, k; // kJ/mol

    PARHELION_HD BondedForces<T, 2> operator()(const Vec3<T>* d) const
    {
        const T a2 = norm2(d[0]), b2 = norm2(d[1]), product = std::sqrt(a2 * b2);
        // If a vector has no length, the angle counts as zero.
        if (!(product > 0)) { return {{T(0.5) * k * (1 - cosine) * (1 - cosine)}, {}}; }
        const T c = dot(d[0], d[1]) / product, bend = c - cosine, scale = -k * bend;
        return {{T(0.5) * k * bend * bend},
                {scale * ((1 / product) * d[1] - (c / a2) * d[0]), scale * ((1 / product) * d[0] - (c / b2) * d[1])}};
    }
};

// V = 1/2 k (cos(theta) - cos(theta0))^2 / sin(theta)^2. The angle never becomes straight, where torsions have no direction
// (Bulacu, Goga, Zhao, Rossi, Monticelli, Periole, Tieleman and Marrink, J. Chem. Theory Comput. 9, 3282 (2013)).
template <class T>
struct RestrictedAngle
{
    static constexpr int atoms = 3;
    T cosine, k; // kJ/mol

    PARHELION_HD BondedForces<T, 2> operator()(const Vec3<T>* d) const
    {
        const T a2 = norm2(d[0]), b2 = norm2(d[1]), product = std::sqrt(a2 * b2);
        if (!(product > 0)) { return {}; }
        // Within 1e-4 rad of a straight angle the sine is kept constant: the force is huge, but finite.
        const T least2 = T(1e-8), sine2 = norm2(cross(d[0], d[1])) / (a2 * b2), s2 = sine2 > least2 ? sine2 : least2;
        const T c = dot(d[0], d[1]) / product, bend = c - cosine, scale = -k * bend * (1 - c * cosine) / (s2 * s2);
        return {{T(0.5) * k * bend * bend / s2},
                {scale * ((1 / product) * d[1] - (c / a2) * d[0]), scale * ((1 / product) * d[0] - (c / b2) * d[1])}};
    }
};

// A harmonic angle and a harmonic bond between its ends: V = 1/2 k (theta - theta0)^2 + 1/2 k_ends (r_02 - r0)^2
template <class T>
struct UreyBradley
{
    static constexpr int atoms = 3;
    HarmonicAngle<T> angle;
    HarmonicBond<T> ends;

    PARHELION_HD BondedForces<T, 2> operator()(const Vec3<T>* d) const
    {
        BondedForces<T, 2> sum = angle(d);
        const Vec3<T> across = d[0] - d[1];
        const BondedForces<T, 1> stretch = ends(&across);
        sum.energy[0] += stretch.energy[0];
        sum.f[0] += stretch.f[0];
        sum.f[1] -= stretch.f[0];
        return sum;
    }
};

// The dihedral angle phi between the planes (0,1,2) and (1,2,3). It is 0 for cis. It is positive if atom 3 is clockwise of
// atom 0, seen along 1 -> 2 (IUPAC). Gradients: Blondel and Karplus, J. Comput. Chem. 17 (1996) 1132. They grow as 1/sin of
// the two bond angles. If three atoms are collinear to 1e-12 rad, phi is undefined and counts as 0, with zero gradients.
template <class T>
struct DihedralGeometry
{
    T cosine = 1, sine = 0;
    Vec3<T> gradient[3]; // d(phi)/d(d[i])

    PARHELION_HD explicit DihedralGeometry(const Vec3<T>* d)
    {
        const Vec3<T> m = cross(d[0], d[1]), n = cross(d[2], d[1]);
        const T axis2 = norm2(d[1]), m2 = norm2(m), n2 = norm2(n), on_a_line = T(1e-24) * axis2;
        if (!(m2 > on_a_line * norm2(d[0]) && n2 > on_a_line * norm2(d[2]))) { return; }
        const T axis = std::sqrt(axis2), inverse_axis = 1 / axis;
        const T inverse2 = 1 / (m2 * n2), inverse = std::sqrt(inverse2); // one division for 1/m2, 1/n2 and 1/(|m||n|)
        cosine = dot(m, n) * inverse;
        sine = axis * dot(d[0], n) * inverse;
        const Vec3<T> m_over_m2 = (n2 * inverse2) * m, n_over_n2 = (m2 * inverse2) * n;
        gradient[0] = axis * m_over_m2;
        gradient[2] = -axis * n_over_n2;
        gradient[1] = (dot(d[2], d[1]) * inverse_axis) * n_over_n2 - (dot(d[0], d[1]) * inverse_axis) * m_over_m2;
    }
    // Returns the forces of a potential whose derivative dE/dphi is `slope`.
    PARHELION_HD BondedForces<T, 3> forces(T energy, T slope) const
    {
        return {{energy}, {-slope * gradient[0], -slope * gradient[1], -slope * gradient[2]}};
    }
};

// V = k (1 + cos(n x - x0)). cos(n x) comes from repeated complex multiplication, without a trigonometric function per term.
template <class T>
struct PeriodicLaw
{
    T cosine, sine; // cosine and sine of x0
    T k;            // kJ/mol
    int multiplicity;

    struct Value
    {
        T energy, slope;
    };
    // Returns energy and derivative at the angle with this cosine and sine.
    PARHELION_HD Value operator()(T cosine_of_x, T sine_of_x) const
    {
        T c = 1, s = 0;
        for (int i = 0; i < multiplicity; ++i)
        {
            const T next = c * cosine_of_x - s * sine_of_x;
            s = s * cosine_of_x + c * sine_of_x;
            c = next;
        }
        return {k * (1 + c * cosine + s * sine), k * T(multiplicity) * (c * sine - s * cosine)};
    }
};

template <class T>
struct PeriodicDihedral
{
    static constexpr int atoms = 4;
    PeriodicLaw<T> law;

    PARHELION_HD BondedForces<T, 3> operator()(const Vec3<T>* d) const
    {
        const DihedralGeometry<T> g(d);
        const auto value = law(g.cosine, g.sine);
        return g.forces(value.energy, value.slope);
    }
};

// V = 1/2 k (xi - xi0)^2, with the difference reduced to [-pi, pi]
template <class T>
struct HarmonicDihedral
{
    static constexpr int atoms = 4;
    T angle, k; // rad, kJ/mol/rad^2

    PARHELION_HD BondedForces<T, 3> operator()(const Vec3<T>* d) const
    {
        const DihedralGeometry<T> g(d);
        const T turn = T(6.283185307179586476925);
        T twist = std::atan2(g.sine, g.cosine) - angle;
        twist -= turn * std::round(twist / turn);
        return g.forces(T(0.5) * k * twist * twist, k * twist);
    }
};

// A flat-bottomed potential with harmonic walls: V = 1/2 k e^2, where e = |phi - phi0| - flat if that is
// positive, and 0 otherwise. phi - phi0 is reduced to [-pi, pi] (GROMACS manual, "Dihedral restraints").
template <class T>
struct DihedralRestraint
{
    static constexpr int atoms = 4;
    T angle, flat, k; // rad, rad (>= 0), kJ/mol/rad^2

    PARHELION_HD BondedForces<T, 3> operator()(const Vec3<T>* d) const
    {
        const DihedralGeometry<T> g(d);
        const T turn = T(6.283185307179586476925);
        T twist = std::atan2(g.sine, g.cosine) - angle;
        twist -= turn * std::round(twist / turn);
        const T excess = twist > flat ? twist - flat : twist < -flat ? twist + flat : T(0);
        return g.forces(T(0.5) * k * excess * excess, k * excess);
    }
};

// V = sum over n of c_n cos(psi)^n with psi = phi - 180 degrees, so trans is 0
template <class T>
struct RyckaertBellemans
{
    static constexpr int atoms = 4;
    T c[6]; // kJ/mol

    PARHELION_HD BondedForces<T, 3> operator()(const Vec3<T>* d) const
    {
        const DihedralGeometry<T> g(d);
        const T x = -g.cosine;
        T value = c[5], slope = 0; // Horner's scheme: polynomial and derivative
        for (int n = 4; n >= 0; --n)
        {
            slope = slope * x + value;
            value = value * x + c[n];
        }
        return g.forces(value, slope * g.sine); // dx/dphi = sin(phi)
    }
};

// Returns the forces of a periodic law of the angle between two vectors. If a vector has no length, the angle counts as zero.
template <class T>
PARHELION_HD BondedForces<T, 2> periodic_angle(const PeriodicLaw<T>& law, const Vec3<T> (&d)[2])
{
    const AngleGeometry<T> g(d);
    const T product = std::sqrt(norm2(d[0]) * norm2(d[1])), inverse = product > 0 ? 1 / product : T(0);
    const auto value = law(product > 0 ? dot(d[0], d[1]) * inverse : T(1), norm(cross(d[0], d[1])) * inverse);
    return {{value.energy}, {-value.slope * g.gradient[0], -value.slope * g.gradient[1]}};
}

// V = k (1 - cos(n (theta - theta0))) of the angle theta between the vectors from atom 0 to 1
// and from atom 2 to 3. Some of the atoms may be the same (GROMACS manual, "Angle restraints").
template <class T>
struct AngleRestraint
{
    static constexpr int atoms = 4;
    PeriodicLaw<T> law;

    PARHELION_HD BondedForces<T, 3> operator()(const Vec3<T>* d) const
    {
        const BondedForces<T, 2> result = periodic_angle(law, {-d[0], d[2]});
        return {{result.energy[0]}, {-result.f[0], {}, result.f[1]}};
    }
};

// Restrains the angle between the vector from atom 0 to 1 and the z axis by the law of
// AngleRestraint. The axis does not turn with the atoms, so the term exerts a torque.
template <class T>
struct AngleRestraintZ
{
    static constexpr int atoms = 2;
    PeriodicLaw<T> law;

    PARHELION_HD BondedForces<T, 1> operator()(const Vec3<T>* d) const
    {
        const BondedForces<T, 2> result = periodic_angle(law, {-d[0], {0, 0, 1}});
        return {{result.energy[0]}, {-result.f[0]}};
    }
};

// A flat-bottomed potential with r from `low` to `up1`. Outside, V = 1/2 k e^2 with e = r - up1 or r - low. Beyond
// up2 the force is constant: V = k (up2 - up1) (e - 1/2 (up2 - up1)) (GROMACS manual, "Distance restraints").
template <class T>
struct DistanceRestraint
{
    static constexpr int atoms = 2;
    T low, up1, up2, k; // nm, nm, nm, kJ/mol/nm^2; low <= up1 <= up2

    PARHELION_HD T excess(T r) const { return r < low ? r - low : r > up1 ? r - up1 : T(0); }
    PARHELION_HD T bounded(T excess) const { return excess > up2 - up1 ? up2 - up1 : excess; }
    PARHELION_HD T energy(T excess) const { return k * bounded(excess) * (excess - T(0.5) * bounded(excess)); }
    PARHELION_HD BondedForces<T, 1> operator()(const Vec3<T>* d) const
    {
        const T r = norm(d[0]), e = excess(r), scale = r > 0 ? -k * bounded(e) / r : T(0);
        return {{energy(e)}, {scale * d[0]}};
    }
};

} // namespace parhelion
