// SPDX-License-Identifier: Apache-2.0
// Opens plugins: shared objects that the program may use but does not need. A plugin is in the program's folder or in the
// folder of libraries of the same prefix. A Python module looks beside the program that it has in its folder bin. The library
// that a plugin needs, such as an MPI, is opened first, with global symbols; the plugin's symbols are local. Plugin and library
// are never closed, since a library's threads may run its code until the process ends.
#pragma once

#include <string>
#include <vector>

namespace parhelion {

// Returns the address of the symbol `name` in the plugin `file`, after it has opened the first of `libraries` that can be
// opened. If there are none, the plugin itself names the library that it needs, and its symbols stay local. Throws SystemError,
// whose text says what is missing.
void* symbol_of_plugin(const std::string& file, const std::vector<std::string>& libraries, const char* name);

} // namespace parhelion
