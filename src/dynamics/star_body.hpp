// SPDX-License-Identifier: Apache-2.0
// LINCS for a *star*: one to four constraints that share an atom, the centre, and nothing else, as a carbon holds its hydrogens.
// Most constraints of molecules whose bonds to hydrogen are fixed are of this kind.
//
// The method, the symbols and the settings are those of lincs.hpp; the number of constraints is known to the compiler, so that
// all of it stays in the registers of one thread. Differs from lincs() by rounding. Cost: 150 flop per constraint and solve.
#pragma once

#include "base/vec3.hpp"
#include "dynamics/lincs.hpp"

#include <cmath>

namespace parhelion {

inline constexpr int largest_star = 4; // constraints

// Copies of a molecule have alike stars. Atoms: the centre, then the outer ends in the order of their constraints.
struct StarShape
{
    double inverse_mass[largest_star + 1] = {}; // 1/u
    double length[largest_star] = {};           // nm
    double weight[largest_star] = {};           // LincsGroup::weight
    int series_order = 0;
};

// Displacements by the constraint forces are -+ inverse mass * multiplier * direction, - at the outer end.
template <int n>
struct StarForces
{
    Vec3<double> direction[n];
    double multiplier[n];
};

// bond: outer end - centre before the step, nm. move: displacements of the atoms in the step, nm; on return such that the lengths
// are kept. iterations: LincsSettings::iterations.
template <int n>
PARHELION_HD StarForces<n> constrain_star(const StarShape& shape, int iterations, const Vec3<double> (&bond)[n],
                                          Vec3<double> (&move)[n + 1])
{
    StarForces<n> forces;
    double matrix[n][n], rhs[n];
    const auto moved_bond = [&](int i) { return bond[i] + (move[i + 1] - move[0]); };
    const auto solve_and_move = [&] {
        double solution[n], from[n];
        for (int i = 0; i < n; ++i) { solution[i] = from[i] = rhs[i]; }
        for (int power = 1; n > 1 && power <= shape.series_order; ++power)
        {
            double to[n];
            for (int i = 0; i < n; ++i)
            {
                to[i] = 0;
                for (int j = 0; j < n; ++j) { to[i] += j != i ? matrix[i][j] * from[j] : 0; }
            }
            for (int i = 0; i < n; ++i) { solution[i] += to[i], from[i] = to[i]; }
        }
        for (int i = 0; i < n; ++i)
        {
            const double multiplier = shape.weight[i] * solution[i];
            forces.multiplier[i] += multiplier;
            move[i + 1] -= (shape.inverse_mass[i + 1] * multiplier) * forces.direction[i];
            move[0] += (shape.inverse_mass[0] * multiplier) * forces.direction[i];
        }
    };

    for (int i = 0; i < n; ++i)
    {
        forces.direction[i] = (1 / std::sqrt(norm2(bond[i]))) * bond[i];
        forces.multiplier[i] = 0;
        for (int j = 0; j < i; ++j)
        {
            matrix[i][j] = matrix[j][i] =
                -shape.weight[i] * shape.weight[j] * shape.inverse_mass[0] * dot(forces.direction[i], forces.direction[j]);
        }
    }
    for (int i = 0; i < n; ++i) { rhs[i] = shape.weight[i] * (dot(forces.direction[i], moved_bond(i)) - shape.length[i]); }
    solve_and_move();
    for (int iteration = 0;; ++iteration)
    {
        const int extra = iteration - iterations;
        bool goes_on = extra < 0;
        for (int i = 0; i < n; ++i)
        {
            const double d2 = shape.length[i] * shape.length[i], projection2 = 2 * d2 - norm2(moved_bond(i));
            rhs[i] = shape.weight[i] * (shape.length[i] - std::sqrt(projection2 > 0 ? projection2 : 0));
            goes_on = goes_on || (extra < LincsSettings::max_extra_iterations &&
                                  std::abs(projection2 - d2) > 2 * LincsSettings::tolerance * d2);
        }
        if (!goes_on) { return forces; }
        solve_and_move();
    }
}

} // namespace parhelion
