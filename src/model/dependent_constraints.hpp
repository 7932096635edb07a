// SPDX-License-Identifier: Apache-2.0
// Constraints that depend on each other: forces along them have no unique answer, and the degrees of freedom that they take are
// fewer than they are.
//
// The idea: constraints are independent if the rows of their Jacobian are. An atom that is held by up to three of them, in
// directions that are independent, can answer any force along these: it is laid aside with them, and so are atoms that only then
// have few enough. Of chains, rings, triangles and tetrahedra nothing is left. The rows of what is left, as of four constraints
// to an atom, of three atoms on a line or of four in a plane, are made orthogonal to those before them, one after another.
// Cost: proportional to the number of constraints; for those that are left, of their third power.
#pragma once

#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <vector>

namespace parhelion {

// Squared, the part of a row's length that has to be independent of the others. Three atoms of a line, of which rounding in a
// .gro has moved one by 0.001 nm, have 3e-4 or less of it; near so little LINCS does not converge either.
inline constexpr double independent_part = 1e-3;

// direction: of each constraint, a vector of any length from one of its atoms to the other. Returns the indices of constraints
// that depend on those before them; without these the others are independent.
std::vector<std::size_t> dependent_constraints(const std::vector<Constraint>& constraints,
                                               const std::vector<Vec3<double>>& direction);

// The same for any positions: the longest side of three constraints whose lengths leave a triangle no angle.
std::vector<std::size_t> flat_triangles(const std::vector<Constraint>& constraints);

// Are constraints independent whatever the positions, as they are without rings?
bool have_no_ring(const std::vector<Constraint>& constraints);

} // namespace parhelion
