// SPDX-License-Identifier: Apache-2.0
// Finds the c6 that the mesh of LJ-PME has for each pair of types, and writes this matrix as a sum of products of atoms'
// strengths.
//
// With the geometric rule the matrix is one product. By the rule of Lorentz and Berthelot, c6 = 4 eps ((sigma_i + sigma_j) / 2)^6
// is a polynomial of degree 6 in each sigma, so the matrix has a rank of at most 7, and at most the number of types of atoms. It
// is the sum of its eigenvalues times products of eigenvectors; an eigenvalue may be negative.
#pragma once

#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <vector>

namespace parhelion {

// Returns c6 on the mesh, kJ nm^6/mol, as Topology::c6. Throws InputError E262 for a type of an atom whose own c6 is negative or,
// with the rule of Lorentz and Berthelot, whose own c12 is 0 though its c6 is not: it has no sigma.
std::vector<double> mesh_c6(const Topology& topology, const RunParameters& run);

struct DispersionPart
{
    double factor = 0;                    // kJ nm^6/mol
    std::vector<double> strength_of_type; // between -1 and 1; 0 for types that no atom has
};
// Returns parts whose sum factor s_a s_b is mesh_c6() for all types that an atom has. Leaves out eigenvalues below 1e-13 of the
// largest. Throws as mesh_c6().
std::vector<DispersionPart> dispersion_parts(const Topology& topology, const RunParameters& run);

} // namespace parhelion
