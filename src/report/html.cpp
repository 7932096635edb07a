// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Returns the length (bytes) of the UTF-8 character at the begin of `text`, or 0 if there is none there. RFC 3629.
std::size_t character_length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    for (std::size_t i = 1; i < length; ++i)
    {
        if ((byte(i) & 0xc0) != 0x80) { return 0; }
    }
    const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool is_surrogate = first == 0xed && byte(1) >= 0xa0, is_beyond = first == 0xf4 && byte(1) >= 0x90;
    const bool is_control =
        (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f || (first == 0xc2 && byte(1) < 0xa0);
    return is_overlong || is_surrogate || is_beyond || is_control ? 0 : length;
}

} // namespace

std::string escaped(std::string_view text)
{
    std::string result;
    result.reserve(text.size());
    while (!text.empty())
    {
        const std::size_t length = character_length(text);
        switch (length == 0 ? '\0' : text[0])
        {
        case '\0':
            result += "\ufffd";
            break;
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default:
            result += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(1, length));
    }
    return result;
}

std::string short_text(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "-"; }

std::string value_text(double mean, double error)
{
    if (!std::isfinite(error) || !(error > 0) || !std::isfinite(mean)) { return short_text(mean); }
    // The error is shown with two digits.
    const int decimals = 1 - static_cast<int>(std::floor(std::log10(error)));
    if (decimals > 9 || decimals < -3) { return fmt::format("{:.6g} ± {:.2g}", mean, error); }
    return fmt::format("{0:.{2}f} ± {1:.{2}f}", mean, error, std::max(0, decimals));
}

} // namespace parhelion
