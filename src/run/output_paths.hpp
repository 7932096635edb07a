// SPDX-License-Identifier: Apache-2.0
// Checks that the output files of a command can be written, before the command does its work.
#pragma once

#include "io/input/load.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace parhelion {

// Checks a file that a command writes at its end. The contents of an existing file are
// kept; a missing file is created, empty. An empty path means no file. Throws SystemError.
void expect_writable(const std::filesystem::path& path);
// Throws InputError E194 if an output is a file of the input.
void protect_input(const InputFiles& files, const std::vector<std::filesystem::path>& outputs);
// Appends a line to a log or a file of measurements. An empty path means no file. Throws SystemError.
void append_line(const std::filesystem::path& file, const std::string& line);

} // namespace parhelion
