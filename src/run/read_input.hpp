// SPDX-License-Identifier: Apache-2.0
// Reads the input of a run, with the warnings that the user accepts.
#pragma once

#include "io/input/load.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace parhelion {

struct RunInput
{
    InputFiles files;
    std::vector<std::string> allowed; // ids of accepted warnings, for example "W112"
};

// The purpose of reading. If one configuration alone is computed, warnings about the course of a run become notes.
enum class Purpose : std::uint8_t
{
    Run,
    SinglePoint
};

// Reads and checks the input. Reports each warning as a line, "warning: … (allowed)", before it throws anything. All remarks
// go to `diagnostics`. Throws the errors of load_gromacs(), and InputError E001 if there is a warning that is not allowed.
LoadedInput read_input(const RunInput& input, Purpose purpose, Diagnostics& diagnostics,
                       const std::function<void(const std::string& line)>& tell);

} // namespace parhelion
