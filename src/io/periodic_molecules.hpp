// SPDX-License-Identifier: Apache-2.0
// Molecules that go through the box, as sheets, tubes and frameworks do, and bonds that are too long for it. Bonded terms,
// exclusions and constraints take the nearest image of each atom, so that nothing else has to know of such molecules.
#pragma once

#include "base/error.hpp"
#include "model/system.hpp"

namespace parhelion {

// Marks molecule types of which a copy is tied to its own image (N191, at `option`). Throws InputError E570, at `structure`, if a
// bond, a constraint or a settle is as long as half the shortest box edge at rest, or one of a marked molecule at the start.
void find_periodic_molecules(const SourceLocation& option, const SourceLocation& structure, System& system,
                             Diagnostics& diagnostics);

} // namespace parhelion
