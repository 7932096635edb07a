// SPDX-License-Identifier: Apache-2.0
// The table of options of GROMACS' grompp and mdrun. A row has the equivalent of an
// option here, or says that there is none. `gmx-args` and docs/user/gromacs-flags.md
// are made from the table. A note in a row is the answer that cli/habits.hpp gives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

enum class GmxCommand : std::uint8_t
{
    Grompp,
    Mdrun
};

enum class Equal : std::uint8_t
{
    Same,      // the same option exists here
    Different, // another option has the same effect
    Nothing,   // no option is needed
    None       // there is no equivalent
};

struct GmxFlag
{
    std::string_view name; // the option's name, with its dash
    GmxCommand command;
    int values; // number of values; 0: a switch, which -no... turns off; -1: all words up to the next option
    Equal equal;
    // Returns the equivalent options here; empty if the default is equivalent. There are as many input values as `values` says.
    std::vector<std::string> (*here)(const std::vector<std::string>& values);
    std::string_view shown; // the equivalent as printed in the manual
    std::string_view note;  // the answer to a user; empty: the text of advice_on_option()
};

std::span<const GmxFlag> gmx_flags();
std::string note_on(const GmxFlag& flag);

// Returns the text of docs/user/gromacs-flags.md.
std::string gmx_flags_manual();

} // namespace parhelion
