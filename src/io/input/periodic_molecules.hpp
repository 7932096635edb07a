// SPDX-License-Identifier: Apache-2.0
// Finds molecules that are bonded through the box, such as sheets, tubes and frameworks, and bonds that are too long for
// the box. Bonded terms, exclusions and constraints use nearest images, so no other code needs to know of such molecules.
#pragma once

#include "base/error.hpp"
#include "model/system.hpp"

namespace parhelion {

// Marks molecule types of which a copy is tied to its own image (N191, at `option`). Throws InputError E570, at `structure`,
// for a bond, constraint or settle at least half the shortest box edge long at rest, or, in a marked molecule, at the start.
void find_periodic_molecules(const SourceLocation& option, const SourceLocation& structure, System& system,
                             Diagnostics& diagnostics);

} // namespace parhelion
