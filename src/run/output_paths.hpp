// SPDX-License-Identifier: Apache-2.0
// May files that a command writes be written? Asked before the work begins.
#pragma once

#include "io/load.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace parhelion {

// For what is written in the end. What is in the file stays; one that was not there is there, empty. An empty path: no file.
// Throws SystemError.
void expect_writable(const std::filesystem::path& path);
// Throws InputError E194 if one of the outputs is a file of the input.
void protect_input(const InputFiles& files, const std::vector<std::filesystem::path>& outputs);
// Appends a line to a log or a file of measurements. An empty path: no file. Throws SystemError.
void append_line(const std::filesystem::path& file, const std::string& line);

} // namespace parhelion
