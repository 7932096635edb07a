// SPDX-License-Identifier: Apache-2.0
// Writes the error that ends a simulation that blows up.
#pragma once

#include "base/box.hpp"
#include "engine/rank.hpp"

namespace parhelion {

// Says whose failures r.constraint_result counts. Other ranks may have stopped before they could count their own.
enum class Failures : std::uint8_t
{
    OfThisRank,
    OfAll
};

// Throws PhysicsError naming the worst constraint if r.constraint_result has failures. It
// serves where there are no forces to check: at the start, and after a change of the box.
template <class N>
void stop_if_constraints_failed(const Rank<N>& r);

// Throws PhysicsError if pressure coupling has shrunk the box so much that the pair list's cut-off
// exceeds the largest possible cut-off (Box::largest_cutoff()). The two cut-offs are in nm.
void stop_if_box_too_small(std::int64_t step, double largest_cutoff, double list_cutoff);

// Checks constraint failures, forces and velocities of the present step; call it between constraining and drifting. Throws
// PhysicsError naming step, atom, residue, the term with the largest force on that atom, and the broken constraint, if any.
template <class N>
void stop_if_unstable(Rank<N>& r, Failures known = Failures::OfThisRank);

} // namespace parhelion
