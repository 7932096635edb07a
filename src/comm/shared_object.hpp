// SPDX-License-Identifier: Apache-2.0
// Opens shared objects that the program may use and does not need. A plugin is found beside the program or in the folder lib
// beside the program's folder. The library that it needs, such as an MPI, is opened first, and its names are for all to see; the
// plugin's own are not. Neither is closed again: a library may have threads that run its code until the process ends.
#pragma once

#include <string>
#include <vector>

namespace parhelion {

// Of the plugin in this file, with the first of these libraries that can be opened. Throws SystemError, which says what is
// missing.
void* symbol_of_plugin(const std::string& file, const std::vector<std::string>& libraries, const char* name);

} // namespace parhelion
