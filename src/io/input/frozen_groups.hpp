// SPDX-License-Identifier: Apache-2.0
// freezegrps: freezes the atoms that the .mdp names.
#pragma once

#include "io/input/mdp.hpp"
#include "model/system.hpp"

namespace parhelion {

// Moves the values of freezegrps and freezedim to `parameters`.
// Throws InputError E107 unless each group has three axes.
void take_frozen_groups(MdpInput& input, Diagnostics& diagnostics);

// Freezes atoms of the topology (model/frozen_atoms.hpp) and sets velocities along frozen axes to 0. Call it after
// check_system(), so that groups exist, and after all data that derive from constraints are made. Throws InputError E156 if
// nothing moves, E583 if a constraint holds an atom that is frozen along some axes, E584 if a rigid water is frozen in part.
void freeze_groups(const MdpInput& input, System& system, Diagnostics& diagnostics);

} // namespace parhelion
