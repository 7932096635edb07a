// SPDX-License-Identifier: Apache-2.0
// Distance restraints of several pairs, as a topology keeps them.
//
// Each pair is an Interaction of kind DistanceRestraint. The pairs of one restraint share one set of parameters, which no other
// has: those of a restraint of one pair, and behind them the restraint's index in the file and its type of averaging. Their law:
// interactions/bonded/joint_distances_body.hpp.
#pragma once

#include "model/topology.hpp"

#include <cstddef>

namespace parhelion {

inline constexpr std::size_t parameters_of_one_pair = row_of(InteractionKind::DistanceRestraint).parameters;

inline bool is_joint(const InteractionParameters& distance_restraint)
{
    return distance_restraint.size() > parameters_of_one_pair;
}
// Whether the forces of a joint restraint are the derivative of its energy whatever disre-weighting says: those of type 2, as in
// GROMACS.
inline bool is_always_conservative(const InteractionParameters& joint) { return joint[parameters_of_one_pair + 1] == 2; }

} // namespace parhelion
