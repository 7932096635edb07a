// SPDX-License-Identifier: Apache-2.0
// What an earlier run left under the name of an output is kept as "#NAME.N#" in the same folder, N the first number from 1 that
// is free, as users of GROMACS know it.
#pragma once

#include <string>

namespace parhelion {

// The new name; empty if there is no such file, or nothing in it. A symbolic link is moved itself, wherever it leads. Throws
// SystemError.
std::string move_to_backup(const std::string& path);
// The same of a file that must stay, as it is locked.
std::string copy_to_backup(const std::string& path);

} // namespace parhelion
