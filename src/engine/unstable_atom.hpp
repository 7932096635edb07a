// SPDX-License-Identifier: Apache-2.0
// The text of the error that ends a simulation that blows up.
#pragma once

#include "base/box.hpp"
#include "engine/rank.hpp"

namespace parhelion {

// What r.constraint_result holds of a step's failures. Others may have stopped before they could count theirs.
enum class Failures : std::uint8_t
{
    OfThisRank,
    OfAll
};

// Throws PhysicsError naming the worst constraint if r.constraint_result holds failures. Where there are no forces to look at: at
// the start, and after a change of the box.
template <class N>
void stop_if_constraints_failed(const Rank<N>& r);

// Throws PhysicsError if pressure coupling has shrunk the box so much that the pair list's cut-off is beyond the largest, as
// Box::largest_cutoff(). nm
void stop_if_box_too_small(std::int64_t step, double largest_cutoff, double list_cutoff);

// Looks at constraint failures, forces and velocities of the step being taken. Throws PhysicsError naming step, atom, residue and
// the term with the largest force on that atom, and the constraint that broke if one did. Call between constraining and drifting.
template <class N>
void stop_if_unstable(Rank<N>& r, Failures known = Failures::OfThisRank);

} // namespace parhelion
