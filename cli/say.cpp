// SPDX-License-Identifier: Apache-2.0
#include "say.hpp"

#include "run/progress.hpp"

#include <algorithm>
#include <cstddef>

namespace parhelion {

std::string printable(const std::string& text)
{
    std::string shown;
    shown.reserve(text.size());
    for (const char character : text)
    {
        const auto byte = static_cast<unsigned char>(character);
        const bool is_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
        if (!shown.empty() && shown.back() == '\xc2' && byte >= 0x80 && byte < 0xa0) { shown.back() = '?'; }
        else { shown += is_control ? '?' : character; }
    }
    return shown;
}

namespace {

// Returns the column to which continued lines are indented: where the text behind a label or an option's name begins.
std::size_t text_of(const std::string& line)
{
    constexpr std::size_t label = 10;
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || begin == 0) { return label; }
    const std::size_t gap = begin < label ? line.find("  ", begin) : std::string::npos;
    const std::size_t text = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
    return text == std::string::npos ? std::max(begin, label) : text;
}

} // namespace

std::string broken(const std::string& text, std::size_t columns)
{
    constexpr std::size_t least = 20; // least number of columns for text in a line
    std::string result;
    for (std::size_t begin = 0; begin < text.size();)
    {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        const std::size_t indent = line.size() > columns ? text_of(line) : 0;
        while (line.size() > columns && columns > indent + least)
        {
            const auto is_within = [&](std::size_t at) { return at != std::string::npos && at > indent; };
            const std::size_t space = line.rfind(' ', columns), comma = line.rfind(',', columns - 1);
            if (!is_within(space) && !is_within(comma)) { break; } // the word is longer than the line
            result += is_within(space) ? line.substr(0, space) : line.substr(0, comma + 1);
            result += '\n';
            line = std::string(indent, ' ') + line.substr((is_within(space) ? space : comma) + 1);
        }
        result += line;
        if (end < text.size()) { result += '\n'; }
        begin = end + 1;
    }
    return result;
}

std::string fitted(const std::string& text, std::FILE* out) { return broken(text, columns_of(out)); }
void say_fitted(std::FILE* out, const std::string& text) { say(out, "{}", fitted(text, out)); }

} // namespace parhelion
