// SPDX-License-Identifier: Apache-2.0
// Reads an AMBER topology (prmtop, parm7) into the same data as a .top.
//
// The file lists the atoms and terms of the whole system. A molecule is a contiguous range of atoms
// that no bond, other term or exclusion ties to other atoms. Equal molecules in succession become
// copies of one molecule type. Cost: linear in the file; a million atoms take about a second.
//
// Some values have no direct counterpart. Charges are CHARGE / 18.2223 with our Coulomb constant, as in programs that
// convert such files (docs/decisions/0036-amber-files.md). The extra point of a four-site water becomes a virtual site.
#pragma once

#include "base/error.hpp"
#include "io/input/amber_system.hpp"
#include "io/input/text.hpp"
#include "model/topology.hpp"

#include <optional>
#include <string_view>

namespace parhelion {

// Returns whether a text is an AMBER topology, by its first bytes.
bool is_prmtop(std::string_view text);

struct Prmtop
{
    Topology topology;
    std::optional<AmberBox> box; // box of the file; used if the coordinates have none
};

// Reads a file. Throws InputError: E120 to E125 (unreadable or impossible contents), E130 (not supported).
Prmtop read_prmtop(MappedFile file, Diagnostics& diagnostics);

} // namespace parhelion
