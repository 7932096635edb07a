// SPDX-License-Identifier: Apache-2.0
// Keeps files that an earlier run left under the names of new outputs. Such a file becomes
// "#NAME.N#" in the same folder, with N the first free number from 1, as in GROMACS.
#pragma once

#include <string>

namespace parhelion {

// Renames the file and returns its new name, or nothing if there is no such file or
// it is empty. A symbolic link itself is renamed, not its target. Throws SystemError.
std::string move_to_backup(const std::string& path);
// Copies the file to a name "#NAME.N#" and returns this name. For a file that must stay because it is locked.
std::string copy_to_backup(const std::string& path);

} // namespace parhelion
