// SPDX-License-Identifier: Apache-2.0
// Output on the terminal. Its reader may be gone (`run
// head`, a lost connection), which must not end the run, so errors are ignored. Texts may contain
// names from files of other people. Characters that would control the terminal are printed as '?'.
#pragma once

#include <cstddef>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace parhelion {

// True if this process prints. Of several processes that do the same work, only one prints.
inline bool speaks = true;

// Returns `text` with '?' for each control character except newline and tab, including
// the control characters that UTF-8 encodes with two bytes (U+0080 to U+009F).
std::string printable(const std::string& text);

template <class... Values>
void say(std::FILE* out, fmt::format_string<Values...> format, Values&&... values)
{
    if (!speaks) { return; }
    std::fputs(printable(fmt::format(format, std::forward<Values>(values)...)).c_str(), out);
}

// Returns `text` in lines of at most `columns` columns, broken between words or, in a long list, behind a
// comma. A continued line is indented to the text behind its label ("system ", ten characters) or option name.
std::string broken(const std::string& text, std::size_t columns);
// Returns `text` broken for the width of the terminal `out`, or unchanged if `out` is no terminal.
std::string fitted(const std::string& text, std::FILE* out);
void say_fitted(std::FILE* out, const std::string& text);

} // namespace parhelion
