// SPDX-License-Identifier: Apache-2.0
// Distance restraints that act on several pairs of atoms jointly, as a topology stores them.
//
// Each pair is an Interaction of kind DistanceRestraint. The pairs of one joint restraint share a set of parameters that no other
// restraint uses: the parameters of a single pair's restraint, then the restraint's index in the file and its type of averaging.
// The force law is in interactions/bonded/joint_distances_body.hpp.
#pragma once

#include "model/topology.hpp"

#include <cstddef>

namespace parhelion {

inline constexpr std::size_t parameters_of_one_pair = row_of(InteractionKind::DistanceRestraint).parameters;

inline bool is_joint(const InteractionParameters& distance_restraint)
{
    return distance_restraint.size() > parameters_of_one_pair;
}
// Returns whether the forces of a joint restraint are the derivative of its
// energy for any disre-weighting. As in GROMACS, this holds for type 2.
inline bool is_always_conservative(const InteractionParameters& joint) { return joint[parameters_of_one_pair + 1] == 2; }

} // namespace parhelion
