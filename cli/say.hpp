// SPDX-License-Identifier: Apache-2.0
// What a run says on the terminal. Nobody may be there to read it (`run | head`, a connection that was lost), which must not end
// the run: errors are not looked at. Files that somebody else has made have a say in many texts: what a terminal would take for
// orders is shown as '?'.
#pragma once

#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace parhelion {

// Of several processes that do the same, one speaks.
inline bool speaks = true;

// `text` without control characters but ends of lines and tabulators, also those that UTF-8 writes with two bytes (U+0080 to
// U+009F).
std::string printable(const std::string& text);

template <class... Values>
void say(std::FILE* out, fmt::format_string<Values...> format, Values&&... values)
{
    if (!speaks) { return; }
    std::fputs(printable(fmt::format(format, std::forward<Values>(values)...)).c_str(), out);
}

} // namespace parhelion
