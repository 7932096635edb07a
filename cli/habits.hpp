// SPDX-License-Identifier: Apache-2.0
// What to say to somebody who is used to GROMACS: what its commands and options are called here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// Does this command read a simulation, as grompp and mdrun do?
bool reads_input(std::string_view command);
// A sentence about an option of GROMACS; empty: it is none, or means the same here. Read letter by letter, -nt would be an index
// file t.
std::string advice_on_option(std::string_view option);
// What to say of a first word that is neither a command nor an option; empty: it is one.
std::string unknown_command(const std::vector<std::string_view>& known, std::string_view word);

} // namespace parhelion
