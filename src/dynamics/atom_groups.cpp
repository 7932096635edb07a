// SPDX-License-Identifier: Apache-2.0
#include "dynamics/atom_groups.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <string_view>

namespace parhelion {

namespace {

[[noreturn]] void unknown_group(const std::string& key, const std::string& name,
                                const std::map<std::string, std::vector<std::int64_t>>& groups)
{
    std::vector<std::string_view> known{"System"};
    for (const auto& [group, atoms] : groups) { known.push_back(group); }
    const std::string near = nearest_word(name, known);
    throw InputError("E610", {key, 0},
                     fmt::format("there is no index group \"{}\" (the atoms it should hold are unknown). {}", name,
                                 near.empty() ? "Define it in the .ndx file, or use System." : "Did you mean \"" + near + "\"?"));
}

} // namespace

AtomGroups make_atom_groups(const std::string& key, const std::vector<std::string>& names,
                            const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t atoms, Coverage coverage)
{
    AtomGroups result;
    if (names.empty() || (names.size() == 1 && names[0] == "System")) { return result; }
    if (names.size() >= AtomGroups::none)
    {
        throw InputError(
            "E613", {key, 0},
            fmt::format("{} groups (at most {} are supported). Join some of them.", names.size(), AtomGroups::none - 1));
    }
    result.count = static_cast<int>(names.size());
    result.of_atom.assign(static_cast<std::size_t>(atoms), AtomGroups::none);
    for (std::size_t g = 0; g < names.size(); ++g)
    {
        const auto found = groups.find(names[g]);
        if (found == groups.end()) { unknown_group(key, names[g], groups); }
        for (const std::int64_t atom : found->second)
        {
            std::uint8_t& group = result.of_atom[static_cast<std::size_t>(atom)];
            if (group != AtomGroups::none)
            {
                throw InputError(
                    "E611", {key, 0},
                    fmt::format("atom {} is in both \"{}\" and \"{}\" (each atom can be coupled once). Make the groups disjoint.",
                                atom + 1, names[group], names[g]));
            }
            group = static_cast<std::uint8_t>(g);
        }
    }
    for (std::size_t atom = 0; coverage == Coverage::Every && atom < result.of_atom.size(); ++atom)
    {
        if (result.of_atom[atom] == AtomGroups::none)
        {
            throw InputError(
                "E612", {key, 0},
                fmt::format("atom {} is in none of the groups (every atom needs one). Add it to a group.", atom + 1));
        }
    }
    return result;
}

} // namespace parhelion
