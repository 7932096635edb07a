// SPDX-License-Identifier: Apache-2.0
#include "shell_word.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace parhelion {

std::string shell_word(const std::string& text)
{
    constexpr std::string_view plain = "_@%+=:,./-";
    const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || plain.find(c) != std::string_view::npos;
    });
    if (is_plain) { return text; }
    std::string quoted = "'";
    for (const char c : text) { quoted += c == '\'' ? "'\\''" : std::string(1, c); }
    return quoted + "'";
}

} // namespace parhelion
