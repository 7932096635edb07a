// SPDX-License-Identifier: Apache-2.0
// LINCS for one group of coupled constraints: bond lengths are restored by forces along the old bonds, found from the constraint
// coupling matrix, whose inverse is a power series; iterations then correct for the rotation of the bonds.
//   Hess, Bekker, Berendsen, Fraaije, J. Comput. Chem. 18, 1463 (1997); Hess, J. Chem. Theory Comput. 4, 116 (2008)
// Rigid figures, whose series does not converge, are solved by the sweeps of Gauss and Seidel, which do for every matrix of
// independent constraints.
// Cost: order * (coupled constraints) multiply-adds per constraint and iteration.
#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace parhelion {

struct LincsSettings
{
    int order = 4; // highest power in the series; doubled for groups with triangles, whose series converges slowly
    int iterations =
        1; // corrections for rotation, at least; a group goes on while one of its bonds is off by more than the tolerance
    static constexpr double tolerance = 1e-6; // relative: what is promised
    // Relative: a bond that is off by more in the end has not been satisfied. Bonds without constraints vibrate by three hundred
    // times as much at 300 K; what is off by more is on its way to any error, step by step.
    static constexpr double failed = 1e-4;
    // Each correction leaves about the same fraction of the error. Where that is 0.98, so many take four digits off it; where it
    // is more, they may not be enough.
    static constexpr int max_extra_iterations = 500;
    // After so many extra iterations groups with triangles begin again, by relaxation: rigid figures have eigenvalues of -1 and
    // below (a tetrahedron -1), where the series diverges, whatever the step.
    static constexpr int series_iterations = 4;
};

// How far bonds are from their lengths is added up as this square: sums of fixed resolution have none for the square of 1e-6.
PARHELION_HD inline double deviation_square(double relative)
{
    const double of_tolerance = relative / LincsSettings::tolerance;
    return of_tolerance * of_tolerance;
}
// The largest of all ranks is found as a whole number, of units of 1e-9; none is larger than LincsSettings::failed.
inline constexpr double deviation_unit = 1e-9;
PARHELION_HD inline std::int32_t in_deviation_units(double relative)
{
    return static_cast<std::int32_t>(relative / deviation_unit + 0.5);
}
// From the sum of these squares over so many constraints; 0 if there are none.
PARHELION_HD inline double rms_deviation(double squares, std::int64_t constraints)
{
    return constraints > 0 ? LincsSettings::tolerance * std::sqrt(squares / static_cast<double>(constraints)) : 0;
}

struct LincsBond
{
    int a, b;      // indices into LincsGroup::atoms
    double length; // nm
};

// Constraints that share atoms, directly or through others, and what depends on masses alone.
struct LincsGroup
{
    std::vector<int> atoms; // of the molecule
    std::vector<double> inverse_mass;
    std::vector<LincsBond> bonds;
    std::vector<double> weight; // per bond: S = 1 / sqrt(1/m_a + 1/m_b)
    // Coupling of bond i: entries [coupling_start[i], coupling_start[i + 1]). Times the cosine between the two bonds,
    // `coefficient` is the element of A = 1 - S B M^-1 B^T S.
    std::vector<int> coupling_start, coupled;
    std::vector<double> coefficient;
    bool has_triangle = false;
};

// The highest power of the series for this group.
int series_order(const LincsGroup& group, const LincsSettings& settings);

// Splits bonds given by atoms of the molecule into groups. inverse_mass: by atom of the molecule.
std::vector<LincsGroup> make_lincs_groups(const std::vector<LincsBond>& bonds, const std::vector<double>& inverse_mass);

// The variables of one copy of a group; reused from copy to copy.
struct LincsWork
{
    // In
    std::vector<Vec3<double>> reference; // per bond: x_a - x_b in the reference positions, nm
    std::vector<Vec3<double>> move;      // per atom: displacement without constraints, nm; out: with them
    // Out
    std::vector<double> multiplier; // per bond: the displacement of its atoms is -+ inverse_mass * multiplier * direction
    double largest_deviation = 0;   // of a bond from its length, relative
    // Inner
    std::vector<Vec3<double>> direction;
    std::vector<double> matrix, rhs, next, solution;

    void resize(const LincsGroup& group);
};

// Constrains work.move; work.largest_deviation says how well. It is more than the tolerance where the series converges slowly, or
// not at all: several bonds of a light atom within a narrow cone, or a step in which bonds turn too far.
void lincs(const LincsGroup& group, const LincsSettings& settings, LincsWork& work);

// Removes from work.move what changes the bond lengths to first order, to rounding; returns false if that cannot be had, as the
// constraints depend on each other.
bool lincs_project(const LincsGroup& group, LincsWork& work);

} // namespace parhelion
