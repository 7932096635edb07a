// SPDX-License-Identifier: Apache-2.0
// The input of a run, with the user's verdict on its warnings.
#pragma once

#include "io/load.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace parhelion {

struct RunInput
{
    InputFiles files;
    std::vector<std::string> allowed; // ids of the warnings that are accepted, as "W112"
};

// What the input is read for. Warnings about how a run would go are notes where only one configuration is computed.
enum class Purpose : std::uint8_t
{
    Run,
    SinglePoint
};

// Reads and checks. Each warning is told as a line, "warning: … (allowed)", before anything is thrown; all remarks go to
// `diagnostics`. Throws as load_gromacs(), and InputError E001 if there is a warning that is not allowed.
LoadedInput read_input(const RunInput& input, Purpose purpose, Diagnostics& diagnostics,
                       const std::function<void(const std::string& line)>& tell);

} // namespace parhelion
