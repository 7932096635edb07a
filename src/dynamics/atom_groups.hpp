// SPDX-License-Identifier: Apache-2.0
// A partition of the atoms into groups: for temperature groups and for centre-of-mass
// groups. Cost: one byte per atom of the system, or nothing if there is one group.
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
    std::vector<std::uint8_t> of_atom; // group by global atom; `none`: in no group; empty: all are in group 0

    std::uint8_t group(std::int64_t global_atom) const
    {
        return of_atom.empty() ? 0 : of_atom[static_cast<std::size_t>(global_atom)];
    }
};

// Says whether every atom must be in a group.
enum class Coverage : std::uint8_t
{
    Every,
    Some
};

// Returns the groups called `names`, in the order of names. Without names, or with the single name System, there is
// one group of all atoms. Messages name `key`, the .mdp key with the names. Throws InputError: E610 unknown group,
// E611 an atom in two groups, E612 an atom in no group although coverage is Every, E613 more than 254 groups.
AtomGroups make_atom_groups(const std::string& key, const std::vector<std::string>& names,
                            const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t atoms,
                            Coverage coverage);

} // namespace parhelion
