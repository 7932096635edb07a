// SPDX-License-Identifier: Apache-2.0
// Finds constraints that depend on each other. Forces along them have no unique solution, and they
// remove fewer degrees of freedom than their number.
//
// The idea: constraints are independent if the rows of their Jacobian are. An atom that at most three constraints
// hold, in independent directions, can balance any force along them. The search removes such an atom with its
// constraints, and repeats this for atoms that then have at most three. This removes every chain, ring, triangle and
// tetrahedron. The remaining rows, such as those of four constraints at one atom, of three atoms on a line or four in
// a plane, are orthogonalised. Cost: the number of constraints, plus the third power of the number of remaining rows.
#pragma once

#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <vector>

namespace parhelion {

// The least squared fraction of a row's length that must be independent of the other rows. Three atoms on a line, one of
// which the rounding of a .gro file moved by 0.001 nm, have 3e-4 or less. LINCS does not converge so close to dependence.
inline constexpr double independent_part = 1e-3;

// Returns the indices of constraints that depend on earlier ones; the constraints without these are all independent.
// `direction` has a vector of any length for each constraint, from one of its atoms to the other.
std::vector<std::size_t> dependent_constraints(const std::vector<Constraint>& constraints,
                                               const std::vector<Vec3<double>>& direction);

// Returns the constraints that depend on others at any positions: the longest side of each triangle that its lengths make flat.
std::vector<std::size_t> flat_triangles(const std::vector<Constraint>& constraints);

// Returns whether the constraints form no ring. They are then independent at any positions.
bool have_no_ring(const std::vector<Constraint>& constraints);

} // namespace parhelion
