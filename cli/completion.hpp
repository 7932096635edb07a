// SPDX-License-Identifier: Apache-2.0
// Writes the shell completion and the man page of the program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace parhelion {

// Returns a completion script. shell: bash, zsh or fish.
std::string completion_script(const CLI::App& program, const std::string& shell);
// Returns the text of parhelion.1 in the macros of man(7). version: the result of version_text().
std::string man_page(const CLI::App& program, const std::string& version);

} // namespace parhelion
