// SPDX-License-Identifier: Apache-2.0
// Skips the settings of refused features, such as pulling. The length of these settings in a run input file (.tpr) follows
// from their contents alone. Each function begins behind the feature's switch, which was on. All throw InputError E118.
#pragma once

#include "io/input/tpr/cursor.hpp"

namespace parhelion {

void skip_pulling(TprCursor& cursor, int version);
void skip_weight_histograms(TprCursor& cursor, int version); // AWH's weight histograms
void skip_rotation(TprCursor& cursor);
void skip_swapping(TprCursor& cursor);
void skip_atoms(TprCursor& cursor); // skips a count of atoms, then these atoms
// Skips free-energy settings. Sets `lambdas` to the number of states.
void skip_free_energy(TprCursor& cursor, int version, std::size_t& lambdas);
void skip_expanded_ensemble(TprCursor& cursor, int version, std::size_t lambdas);

} // namespace parhelion
