// SPDX-License-Identifier: Apache-2.0
// Asks the external forces (ExternalForce) for their values in a step, and adds these values to the forces.
#pragma once

#include "engine/rank.hpp"

namespace parhelion {

// Adds external forces to the forces on home atoms in r.state.f; sets energy and virial in r.external. Returns
// true, on all ranks alike, if every external force had an answer. Collective if there are external forces.
// Cost: two messages between each rank and rank 0, one with the positions of needed atoms, one with forces.
template <class N>
bool add_external_forces(Rank<N>& r);

} // namespace parhelion
