// SPDX-License-Identifier: Apache-2.0
// Writes an input of any format as text files in one folder: topol.top, conf.gro, md.mdp, and if needed
// index.ndx and reference.gro. Reading these files gives the same input: constraints, masses and settles as
// after reading, all options with the values in use, groups with their atoms. Positions have twelve decimals.
#pragma once

#include "io/input/load.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace parhelion {

// The file names that write_input() may use.
inline constexpr const char* text_input_names[] = {"md.mdp", "conf.gro", "topol.top", "reference.gro", "index.ndx"};

// Returns the options of a command that reads the files which this function writes to the folder. Precondition: the
// input does not start from another state (hand_over). Throws SystemError if the folder or a file cannot be written.
std::vector<std::string> write_input(const std::filesystem::path& folder, const LoadedInput& input);

} // namespace parhelion
