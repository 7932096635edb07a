// SPDX-License-Identifier: Apache-2.0
// Who started this process, as its environment tells: one table of the launchers that are known, by their variables. What it
// takes to meet the others is the number of this process, how many there are, and where the first one can be reached.
#pragma once

#include "comm/bootstraps/sockets.hpp"

#include <functional>
#include <optional>
#include <string>

namespace parhelion {

// The value of a variable, or null.
using Environment = std::function<const char*(const char* name)>;
Environment own_environment();

struct Launch
{
    std::string launcher; // as people call it
    int process = 0;
    int processes = 1;
    Address address;       // of the first process
    bool is_parent = true; // of this process, as launchers are; not whoever sets variables by hand
};

// Nothing: nobody that is known has started several processes. Throws InputError E210 if somebody has, and does not say enough.
std::optional<Launch> recognise_launch(const Environment& variable);

} // namespace parhelion
