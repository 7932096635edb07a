// SPDX-License-Identifier: Apache-2.0
// Detects atoms at exactly the same place. Their force has no direction, so nothing would separate them,
// and their energy is meaningless. Usually the file has a molecule twice. Excluded atoms, and atoms that
// do not interact, may coincide. Cost: two passes over the positions, and two bits per atom in sixteen.
#pragma once

#include "base/error.hpp"
#include "model/system.hpp"

#include <cstdint>

namespace parhelion {

enum class AtomsInOnePlace : std::uint8_t
{
    Refuse, // throw InputError E155, which names two such atoms
    Part    // warn (W127), naming two of them, and move all apart by 1e-5 nm, for a minimisation, which goes on from there
};

// Finds atoms at the same place and treats them by `what`. `first_atom`: line of the first atom in the
// file with the positions; 0 for a file without lines. Places are compared as 32-bit fractions of the box.
void check_places(const SourceLocation& first_atom, AtomsInOnePlace what, System& system, Diagnostics& diagnostics);

} // namespace parhelion
