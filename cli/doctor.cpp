// SPDX-License-Identifier: Apache-2.0
// `parhelion doctor`: what this machine has, what the program can use of it, and whether the arithmetic works.
#include "commands.hpp"
#include "describe.hpp"

#include <filesystem>
#include <fmt/format.h>

namespace parhelion {

void command_doctor()
{
    fmt::print("program   {}\nmachine   {}\n", version_text(), describe_machine());
    fmt::print("devices   {}\n", describe_devices());
    const bool data = std::filesystem::exists("/usr/share/gromacs/top");
    fmt::print("forcefields {}\n", data ? "/usr/share/gromacs/top" : "none installed (apt install gromacs-data, or -I DIR)");
}

} // namespace parhelion
