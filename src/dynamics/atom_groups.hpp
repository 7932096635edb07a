// SPDX-License-Identifier: Apache-2.0
// Which group each atom belongs to: temperature groups and centre-of-mass groups are both partitions of the atoms.
// Cost: one byte per atom of the system, none when there is one group.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace parhelion {

struct AtomGroups
{
    static constexpr std::uint8_t none = 255;

    int count = 1;
    std::vector<std::uint8_t> of_atom; // by global atom; none: in no group; empty: every atom is in group 0

    std::uint8_t group(std::int64_t global_atom) const
    {
        return of_atom.empty() ? 0 : of_atom[static_cast<std::size_t>(global_atom)];
    }
};

// Must every atom be in a group?
enum class Coverage : std::uint8_t
{
    Every,
    Some
};

// The groups called `names`, in that order; no name, or the single name System, is one group of every atom. `key` is the .mdp key
// the names come from, for the messages. Throws InputError: E610 unknown group, E611 an atom in two groups, E612 an atom in none
// although coverage is Every, E613 more than 254 groups.
AtomGroups make_atom_groups(const std::string& key, const std::vector<std::string>& names,
                            const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t atoms,
                            Coverage coverage);

} // namespace parhelion
