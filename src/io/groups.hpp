// SPDX-License-Identifier: Apache-2.0
// Groups of atoms by name: those of the index file, else GROMACS' usual ones, made from residue and molecule names. Only groups
// that are asked for are built, because an index per atom of a large system costs as much as its positions.
#pragma once

#include "base/error.hpp"
#include "model/system.hpp"

#include <string>
#include <string_view>

namespace parhelion {

// Makes sure that `system.groups` has the group and returns its name as stored there, "System" for the whole system. Known
// without an index file: System, Protein, non-Protein, Water, non-Water, Ion, Water_and_ions, every residue name and every
// molecule type's name; case does not matter, as in GROMACS. Throws InputError E150 at `where` if there is no such group, E151 if
// it is empty.
std::string require_group(System& system, const std::string& name, const SourceLocation& where);

} // namespace parhelion
