// SPDX-License-Identifier: Apache-2.0
// Atoms in exactly one place. Their force has no direction, so nothing would part them, and their energy has no meaning. Usually
// a molecule is in the file twice. Excluded atoms may be in one place, and so may those that do not interact.
// Cost: two passes over the positions, and two bits in sixteen an atom.
#pragma once

#include "base/error.hpp"
#include "model/system.hpp"

#include <cstdint>

namespace parhelion {

enum class AtomsInOnePlace : std::uint8_t
{
    Refuse, // InputError E155 names two of them
    Part    // warning W127 names two of them, and all are moved apart by 1e-5 nm: for a minimisation, which does the rest
};

// `first_atom`: its line in the file that the positions are from; 0 in a file without lines. Places are compared as the box's
// 32-bit fractions.
void check_places(const SourceLocation& first_atom, AtomsInOnePlace what, System& system, Diagnostics& diagnostics);

} // namespace parhelion
