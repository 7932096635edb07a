// SPDX-License-Identifier: Apache-2.0
#include "io/input/amber_sections.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace parhelion {

namespace {

constexpr std::string_view flag_word = "%FLAG", format_word = "%FORMAT";

// Removes a number from the front of the text and returns it. Returns nothing without a number, or if it exceeds any line.
std::optional<std::int64_t> take_count(std::string_view& text)
{
    std::size_t digits = 0;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) { ++digits; }
    const auto number = to_integer(text.substr(0, digits));
    text.remove_prefix(digits);
    constexpr std::int64_t most = 10'000;
    return number && *number > 0 && *number <= most ? number : std::nullopt;
}

} // namespace

// Parses "(10I8)", "(5E16.8)", "(20a4)", "(8(F9.5))" to the number, kind and width of values on
// a line. Other formats occur only in sections that are never read; they get the unknown kind.
AmberSections::Format AmberSections::format_of(std::string_view text)
{
    Format result;
    const auto skip = [&](char c) {
        if (!text.starts_with(c)) { return false; }
        text.remove_prefix(1);
        return true;
    };
    if (!skip('(')) { return {}; }
    if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0)
    {
        const auto number = take_count(text);
        if (!number) { return {}; }
        result.per_line = *number;
    }
    const bool is_nested = skip('(');
    if (text.empty()) { return {}; }
    const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    text.remove_prefix(1);
    const auto width = take_count(text);
    if (!width) { return {}; }
    result.width = static_cast<std::size_t>(*width);
    if (skip('.')) { take_count(text); }
    if ((is_nested && !skip(')')) || !skip(')') || !text.empty()) { return {}; }
    result.kind = kind == 'f' || kind == 'g' || kind == 'd' ? 'e' : kind;
    return result;
}

AmberSections::AmberSections(MappedFile file) : file_(std::move(file))
{
    std::string_view rest = file_.text_without_mark();
    if (!rest.starts_with("%VERSION"))
    {
        throw InputError("E120", {file_.path().string(), 1},
                         "an AMBER topology begins with %VERSION (without it, it may be of the form before AMBER 7, which is not "
                         "supported, not planned). Write it anew, for example with ParmEd.");
    }
    std::string_view name;
    Part* open = nullptr; // the section whose values follow
    for (int line = 1; !rest.empty(); ++line)
    {
        const std::string_view text = take_line(rest);
        if (!text.starts_with('%'))
        {
            if (open != nullptr) { open->text = {open->text.data(), static_cast<std::size_t>(rest.data() - open->text.data())}; }
        }
        else if (text.starts_with(flag_word)) { name = trimmed(text.substr(flag_word.size())), open = nullptr; }
        else if (text.starts_with(format_word) && !name.empty())
        {
            const auto [entry, is_new] = sections_.try_emplace(std::exchange(name, {}));
            if (!is_new) { fail("E120", entry->first, 0, "is there twice (which of them counts would be a guess)."); }
            open = &entry->second;
            *open = {format_of(trimmed(text.substr(format_word.size()))), line + 1, {rest.data(), 0}};
        }
    }
}

const AmberSections::Part& AmberSections::part(std::string_view name) const
{
    const auto found = sections_.find(name);
    if (found == sections_.end()) { fail("E120", name, 0, "is missing. Is the file whole?"); }
    return found->second;
}

SourceLocation AmberSections::where(std::string_view name, std::int64_t value) const
{
    const auto found = sections_.find(name);
    if (found == sections_.end()) { return {file_.path().string(), 1}; }
    return {file_.path().string(), found->second.first_line + static_cast<int>(value / found->second.format.per_line)};
}

void AmberSections::fail(const char* id, std::string_view name, std::int64_t value, const std::string& message) const
{
    throw InputError(id, where(name, value), fmt::format("section {} {}", name, message));
}

std::string_view AmberSections::line(std::string_view name) const
{
    const auto found = sections_.find(name);
    if (found == sections_.end()) { return {}; }
    std::string_view text = found->second.text;
    return trimmed(take_line(text));
}

std::int64_t AmberSections::size(std::string_view name) const
{
    const Part& section = part(name);
    std::int64_t count = 0;
    for (std::string_view rest = section.text; !rest.empty();)
    {
        const std::string_view text = take_line(rest);
        const std::size_t blanks = text.size() - (text.find_last_not_of(" \t") + 1); // if nothing is found, npos + 1 is 0
        count += static_cast<std::int64_t>((text.size() - blanks + section.format.width - 1) / section.format.width);
    }
    return count;
}

template <class Value, class Parse>
std::vector<Value> AmberSections::values(std::string_view name, std::int64_t count, char kind, const char* what,
                                         const Parse& parse) const
{
    const Part& section = part(name);
    const Format& f = section.format;
    if (f.kind != kind)
    {
        fail("E120", name, 0, fmt::format("has a format that is not of {}. Write the file anew, for example with ParmEd.", what));
    }
    std::vector<Value> result;
    // Memory is limited by the section's length, whatever number of values the file announces.
    result.reserve(std::min(static_cast<std::size_t>(count), section.text.size() / f.width + 1));
    std::string_view rest = section.text, text;
    for (std::int64_t i = 0; i < count; ++i)
    {
        const std::int64_t column = i % f.per_line;
        if (column == 0) { text = take_line(rest); }
        const std::size_t begin = static_cast<std::size_t>(column) * f.width;
        if (rest.empty() && begin >= text.size())
        {
            fail("E120", name, i, fmt::format("ends after {} of {} values. Is the file whole?", i, count));
        }
        const std::string_view field = trimmed(begin < text.size() ? text.substr(begin, f.width) : std::string_view{});
        const auto value = parse(field);
        if (!value)
        {
            fail("E121", name, i,
                 fmt::format("has {} in columns {} to {}, where {} is due. Correct it.", in_quotes(field), begin + 1,
                             begin + f.width, what));
        }
        result.push_back(*value);
    }
    const std::size_t used = count == 0 ? 0 : (static_cast<std::size_t>((count - 1) % f.per_line) + 1) * f.width;
    const std::string_view left = used < text.size() ? text.substr(used) : std::string_view{};
    if (left.find_first_not_of(" \t\r") != left.npos || rest.find_first_not_of(" \t\r\n") != rest.npos)
    {
        fail("E120", name, count, fmt::format("has more than the {} values that POINTERS and other sections say.", count));
    }
    return result;
}

std::vector<std::int32_t> AmberSections::integers(std::string_view name, std::int64_t count) const
{
    return values<std::int32_t>(name, count, 'i', "a whole number", [](std::string_view field) -> std::optional<std::int32_t> {
        const auto value = to_integer(field);
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        if (!value || *value < -most || *value > most) { return std::nullopt; }
        return static_cast<std::int32_t>(*value);
    });
}

std::vector<double> AmberSections::reals(std::string_view name, std::int64_t count) const
{
    return values<double>(name, count, 'e', "a finite number of usual size", [](std::string_view field) -> std::optional<double> {
        constexpr double largest = 1e30; // keeps results finite that are computed from several values
        const auto value = to_real(field);
        return value && std::abs(*value) <= largest ? value : std::nullopt;
    });
}

std::vector<std::string_view> AmberSections::words(std::string_view name, std::int64_t count) const
{
    return values<std::string_view>(name, count, 'a', "a name", [](std::string_view field) -> std::optional<std::string_view> {
        return field.empty() ? std::nullopt : std::optional(field);
    });
}

} // namespace parhelion
