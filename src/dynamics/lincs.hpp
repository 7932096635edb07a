// SPDX-License-Identifier: Apache-2.0
// LINCS for one group of coupled constraints of a molecule type (Hess et al. 1997, Hess 2008).
#pragma once

#include "base/vec3.hpp"

#include <vector>

namespace parhelion {

struct LincsSettings
{
    int order = 4;
    int iterations = 1;
    double cos_warn_angle = 0.866;
};

// Constraints that share atoms, directly or through others. Coupling entries of constraint c: [coupling_start[c], coupling_start[c + 1]).
struct LincsGroup
{
    struct Bond
    {
        int a, b;              // local atoms
        double length;         // nm
        double inverse_mass_a, inverse_mass_b;
        double weight;         // 1 / sqrt(1/m_a + 1/m_b)
    };
    std::vector<Bond> bonds;
    std::vector<int> coupling_start;
    std::vector<int> coupled;        // the other constraint
    std::vector<double> coefficient; // sign * weight * weight / m of the shared atom: times the cosine of the bonds, an element of the matrix
    std::vector<bool> in_triangle;
};

} // namespace parhelion
