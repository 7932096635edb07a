// SPDX-License-Identifier: Apache-2.0
// freezegrps: freezes the atoms of a system that the .mdp names.
#pragma once

#include "io/mdp.hpp"
#include "model/system.hpp"

namespace parhelion {

// Moves what the .mdp gives for freezegrps and freezedim to `parameters`. Throws InputError E107 unless each group has three
// axes.
void take_frozen_groups(MdpInput& input, Diagnostics& diagnostics);

// Freezes atoms of the topology (model/frozen_atoms.hpp) and takes their velocities along frozen axes away. For a system that has
// been checked, so that groups exist; what else is made of constraints must have been made. Throws InputError E156 if nothing
// moves, E583 if a constraint holds an atom that is frozen along some axes alone, E584 if a rigid water is frozen in part.
void freeze_groups(const MdpInput& input, System& system, Diagnostics& diagnostics);

} // namespace parhelion
