// SPDX-License-Identifier: Apache-2.0
// Answers to users of GROMACS' commands and options: the names of the equivalents here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// Returns whether this command reads a simulation, as grompp and mdrun do.
bool reads_input(std::string_view command);
// Returns a sentence about an option of GROMACS. Returns nothing if it is no such option or means the
// same here. Without the answer, a parser that reads letter by letter would take -nt as index file t.
std::string advice_on_option(std::string_view option);
// Returns the answer to an unknown first word, or nothing if the word is a command or an option.
std::string unknown_command(const std::vector<std::string_view>& known, std::string_view word);

} // namespace parhelion
