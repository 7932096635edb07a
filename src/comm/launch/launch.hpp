// SPDX-License-Identifier: Apache-2.0
// Recognises the launcher of this process by environment variables, with one table of known launchers. To meet the other
// processes, a process needs its number, the number of processes, and the address of the first process.
#pragma once

#include "comm/bootstraps/sockets.hpp"

#include <functional>
#include <optional>
#include <string>

namespace parhelion {

// Returns the value of an environment variable, or null if it is not set.
using Environment = std::function<const char*(const char* name)>;
Environment own_environment();

struct Launch
{
    std::string launcher; // usual name of the launcher
    int process = 0;
    int processes = 1;
    Address address;       // address at which the first process listens
    bool is_parent = true; // false if variables were set by hand, so that no launcher is the parent
};

// Returns this process's launch, or nothing if it is the only process. Throws InputError E210 if a launcher tells too little.
std::optional<Launch> recognise_launch(const Environment& variable);

} // namespace parhelion
