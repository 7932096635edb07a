// SPDX-License-Identifier: Apache-2.0
// Makes the common parts of every HTML page: style and script, which are embedded in the program, and a line that names the
// program. A page needs no other files and no network.
#pragma once

#include <string>

namespace parhelion {

// Returns the page. title: plain text. body: markup.
std::string whole_page(const std::string& title, const std::string& body);

} // namespace parhelion
