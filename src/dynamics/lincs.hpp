// SPDX-License-Identifier: Apache-2.0
// LINCS for one group of coupled constraints: bond lengths are restored by forces along the old bonds, found from the constraint
// coupling matrix, whose inverse is a power series; iterations then correct for the rotation of the bonds.
//   Hess, Bekker, Berendsen, Fraaije, J. Comput. Chem. 18, 1463 (1997); Hess, J. Chem. Theory Comput. 4, 116 (2008)
// Cost: order * (coupled constraints) multiply-adds per constraint and iteration.
#pragma once

#include "base/vec3.hpp"

#include <vector>

namespace parhelion {

struct LincsSettings
{
    int order = 4; // highest power in the series; doubled for groups with triangles, whose series converges slowly
    int iterations =
        1; // corrections for rotation, at least; a group goes on while one of its bonds is off by more than the tolerance
    static constexpr double tolerance = 1e-6; // relative
    static constexpr int max_extra_iterations = 4;
};

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
    // Inner
    std::vector<Vec3<double>> direction;
    std::vector<double> matrix, rhs, next, solution;

    void resize(const LincsGroup& group);
};

// Constrains work.move. A bond stretched beyond sqrt(2) of its length cannot be corrected and is left to the caller's check of
// angles.
void lincs(const LincsGroup& group, const LincsSettings& settings, LincsWork& work);

// Removes from work.move what changes the bond lengths to first order, to rounding; returns false if that cannot be had, as the
// constraints depend on each other.
bool lincs_project(const LincsGroup& group, LincsWork& work);

} // namespace parhelion
