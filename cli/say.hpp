// SPDX-License-Identifier: Apache-2.0
// What a run says on the terminal. Nobody may be there to read it (`run | head`, a connection that was lost), which must not end
// the run: errors are not looked at.
#pragma once

#include <cstdio>
#include <fmt/format.h>
#include <utility>

namespace parhelion {

// Of several processes that do the same, one speaks.
inline bool speaks = true;

template <class... Values>
void say(std::FILE* out, fmt::format_string<Values...> format, Values&&... values)
{
    if (!speaks) { return; }
    std::fputs(fmt::format(format, std::forward<Values>(values)...).c_str(), out);
}

} // namespace parhelion
