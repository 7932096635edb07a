// SPDX-License-Identifier: Apache-2.0
#include "io/input/ndx.hpp"

#include "base/error.hpp"
#include "io/input/text.hpp"

#include <algorithm>

namespace parhelion {

namespace {

using AtomLists = std::map<std::string, std::vector<std::int64_t>>;

std::string heading_name(std::string_view line, const SourceLocation& where)
{
    const std::size_t end = line.find(']');
    const std::string_view name = end == line.npos ? std::string_view{} : trimmed(line.substr(1, end - 1));
    if (name.empty() || !trimmed(line.substr(end + 1)).empty())
    {
        throw InputError("E160", where, "a group heading is a name in brackets, alone on its line. Write [ name ].");
    }
    return std::string(name);
}

// Adds a group. Files that tools have extended often repeat a group; this is harmless if its atoms are the same.
void add_group(AtomLists& groups, const std::string& name, std::vector<std::int64_t> atoms, const SourceLocation& where)
{
    std::sort(atoms.begin(), atoms.end());
    atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
    const auto [entry, is_new] = groups.try_emplace(name, std::move(atoms));
    if (!is_new && entry->second != atoms)
    {
        throw InputError("E162", where,
                         "group " + in_quotes(name) +
                             " is defined twice with different atoms (which one is meant would be a guess). Rename one of them.");
    }
}

} // namespace

AtomLists read_ndx(const MappedFile& file, std::int64_t atom_count)
{
    AtomLists groups;
    std::string name;
    std::vector<std::int64_t> atoms;
    std::vector<std::string_view> words;
    SourceLocation where{file.path().string(), 0}, heading = where;
    for (std::string_view rest = file.text_without_mark(); !rest.empty();)
    {
        std::string_view line = take_line(rest);
        ++where.line;
        line = trimmed(line.substr(0, line.find(';')));
        if (line.starts_with('['))
        {
            if (!name.empty()) { add_group(groups, name, std::move(atoms), heading); }
            name = heading_name(line, where);
            heading = where;
            atoms.clear();
            continue;
        }
        split_words(line, words);
        if (!words.empty() && name.empty())
        {
            throw InputError("E160", where,
                             in_quotes(words[0]) + " stands before the first group heading. Write [ name ] above it.");
        }
        for (const std::string_view word : words)
        {
            const auto number = to_integer(word);
            if (!number || *number < 1 || *number > atom_count)
            {
                throw InputError("E161", where,
                                 in_quotes(word) + " in group " + in_quotes(name) + " is not an atom number from 1 to " +
                                     std::to_string(atom_count) + ". Was the file made for this system?");
            }
            atoms.push_back(*number - 1);
        }
    }
    if (!name.empty()) { add_group(groups, name, std::move(atoms), heading); }
    return groups;
}

} // namespace parhelion
