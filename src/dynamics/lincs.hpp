// SPDX-License-Identifier: Apache-2.0
// LINCS for one group of coupled constraints. Forces along the old bonds restore bond lengths. They follow from the
// constraint coupling matrix, whose inverse is a power series. Iterations then correct for the rotation of the bonds.
//   Hess, Bekker, Berendsen, Fraaije, J. Comput. Chem. 18, 1463 (1997); Hess, J. Chem. Theory Comput. 4, 116 (2008)
// The series does not converge for rigid bodies. These are solved by
// Gauss-Seidel sweeps, which converge for any independent constraints.
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
    int order = 4; // highest power in the series; doubled for groups with triangles, which converge slowly
    int iterations =
        1; // least number of corrections for rotation; a group goes on while a bond is off by more than the tolerance
    static constexpr double tolerance = 1e-6; // relative deviation below which a bond needs no further correction
    // A bond whose final relative deviation is larger counts as not satisfied. The vibration of unconstrained bonds at 300 K is
    // 300 times as large. Deviations above this value grow from step to step until the run blows up.
    static constexpr double failed = 1e-4;
    // Each correction multiplies the error by about the same factor. If the factor is 0.98, this many corrections reduce the
    // error by four digits. If it is larger, they may not suffice.
    static constexpr int max_extra_iterations = 500;
    // After this many extra iterations, groups with triangles start again, with Gauss-Seidel sweeps. Rigid bodies
    // have eigenvalues of -1 and below (a tetrahedron -1), for which the series diverges at any time step.
    static constexpr int series_iterations = 4;
};

// Returns the square of a relative deviation in units of the tolerance: fixed-point sums cannot resolve the square of 1e-6.
PARHELION_HD inline double deviation_square(double relative)
{
    const double of_tolerance = relative / LincsSettings::tolerance;
    return of_tolerance * of_tolerance;
}
// The largest deviation over all ranks is compared as an integer, in units of 1e-9. It is at most LincsSettings::failed.
inline constexpr double deviation_unit = 1e-9;
PARHELION_HD inline std::int32_t in_deviation_units(double relative)
{
    return static_cast<std::int32_t>(relative / deviation_unit + 0.5);
}
// Returns the relative rms deviation from `squares`, the sum of deviation_square() over the constraints; 0 if there are none.
PARHELION_HD inline double rms_deviation(double squares, std::int64_t constraints)
{
    return constraints > 0 ? LincsSettings::tolerance * std::sqrt(squares / static_cast<double>(constraints)) : 0;
}

struct LincsBond
{
    int a, b;      // indices into LincsGroup::atoms
    double length; // nm
};

// Constraints that share atoms, directly or through others, and those of their quantities that depend on masses alone.
struct LincsGroup
{
    std::vector<int> atoms; // indices in the molecule
    std::vector<double> inverse_mass;
    std::vector<LincsBond> bonds;
    std::vector<double> weight; // per bond: S = 1 / sqrt(1/m_a + 1/m_b)
    // The bonds coupled to bond i are entries [coupling_start[i], coupling_start[i + 1]).
    // `coefficient` times the cosine between the two bonds is the element of A = 1 - S B M^-1 B^T S.
    std::vector<int> coupling_start, coupled;
    std::vector<double> coefficient;
    bool has_triangle = false;
};

// Returns the highest power of the series for this group.
int series_order(const LincsGroup& group, const LincsSettings& settings);

// Returns the groups of coupled bonds between atoms of a molecule. inverse_mass: by atom of the molecule, 1/u.
std::vector<LincsGroup> make_lincs_groups(const std::vector<LincsBond>& bonds, const std::vector<double>& inverse_mass);

// The variables of one copy of a group. The next copy uses the same memory.
struct LincsWork
{
    // --- input
    std::vector<Vec3<double>> reference; // per bond: x_a - x_b in the reference positions, nm
    std::vector<Vec3<double>> move;      // per atom: displacement without constraints, nm; after the call: with constraints
    // --- output
    std::vector<double> multiplier; // per bond: its atoms are displaced by -+ inverse_mass * multiplier * direction
    double largest_deviation = 0;   // largest relative deviation of a bond from its length
    // --- internal
    std::vector<Vec3<double>> direction;
    std::vector<double> matrix, rhs, next, solution;

    // Makes the arrays long enough for a group. They are not shortened, so only the entries of the group's bonds and atoms count.
    void make_room(const LincsGroup& group)
    {
        const bool fits =
            group.bonds.size() <= reference.size() && group.atoms.size() <= move.size() && group.coupled.size() <= matrix.size();
        if (!fits) { grow(group); }
    }

private:
    void grow(const LincsGroup& group);
};

// Constrains work.move and sets work.largest_deviation. The latter exceeds the tolerance if the series converges slowly
// or not at all: for several bonds of a light atom within a narrow cone, or in a step in which bonds turn too far.
void lincs(const LincsGroup& group, const LincsSettings& settings, LincsWork& work);

// Removes from work.move the part that changes bond lengths to first order, up to
// rounding. Returns false if that is impossible because constraints depend on each other.
bool lincs_project(const LincsGroup& group, LincsWork& work);

} // namespace parhelion
