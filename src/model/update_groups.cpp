// SPDX-License-Identifier: Apache-2.0
// Breadth-first walks along constraints and virtual sites. One walk finds a group; walks from each of its atoms find its centre.
#include "model/update_groups.hpp"

#include <algorithm>

namespace parhelion {

namespace {

using Neighbours = std::vector<std::vector<std::int32_t>>; // tied atoms of each atom, indexed by atom

Neighbours joined_neighbours(const MoleculeType& type)
{
    Neighbours neighbours(type.atoms.size());
    const auto join = [&](std::int32_t a, std::int32_t b) {
        neighbours[static_cast<std::size_t>(a)].push_back(b);
        neighbours[static_cast<std::size_t>(b)].push_back(a);
    };
    for (const Constraint& c : type.constraints) { join(c.a, c.b); }
    for (const Settle& s : type.settles)
    {
        join(s.oxygen, s.hydrogen_a);
        join(s.oxygen, s.hydrogen_b);
    }
    for (const VirtualSite& site : type.sites)
    {
        for (const std::int32_t atom : site.from) { join(site.atom, atom); }
    }
    return neighbours;
}

// A breadth-first walk from one atom to all atoms that are tied to it.
class Walk
{
public:
    explicit Walk(const Neighbours& neighbours) : neighbours_(neighbours), distance_(neighbours.size(), -1) {}

    // Returns the atoms that the walk reaches, nearest first, so the last one is the farthest.
    const std::vector<std::int32_t>& from(std::int32_t start)
    {
        for (const std::int32_t atom : reached_) { distance(atom) = -1; }
        reached_.assign(1, start);
        distance(start) = 0;
        for (std::size_t i = 0; i < reached_.size(); ++i)
        {
            const std::int32_t here = reached_[i];
            for (const std::int32_t next : neighbours_[static_cast<std::size_t>(here)])
            {
                if (distance(next) >= 0) { continue; }
                distance(next) = distance(here) + 1;
                reached_.push_back(next);
            }
        }
        return reached_;
    }
    // Returns the number of steps from the start to the farthest atom.
    int longest() { return distance(reached_.back()); }

private:
    int& distance(std::int32_t atom) { return distance_[static_cast<std::size_t>(atom)]; }

    const Neighbours& neighbours_;
    std::vector<int> distance_; // in steps, indexed by atom; -1: not reached yet
    std::vector<std::int32_t> reached_;
};

MoleculeUpdateGroups update_groups_of(const MoleculeType& type)
{
    const Neighbours neighbours = joined_neighbours(type);
    Walk walk(neighbours);
    MoleculeUpdateGroups result;
    result.reference_of_atom.assign(type.atoms.size(), -1);
    for (std::int32_t first = 0; first < static_cast<std::int32_t>(type.atoms.size()); ++first)
    {
        if (result.reference_of_atom[static_cast<std::size_t>(first)] >= 0) { continue; }
        std::vector<std::int32_t> group = walk.from(first);
        std::sort(group.begin(), group.end());
        std::int32_t centre = first;
        int shortest = walk.longest();
        for (const std::int32_t atom : group)
        {
            walk.from(atom);
            if (walk.longest() < shortest) { centre = atom, shortest = walk.longest(); }
        }
        for (const std::int32_t atom : group) { result.reference_of_atom[static_cast<std::size_t>(atom)] = centre; }
    }
    return result;
}

} // namespace

UpdateGroups make_update_groups(const Topology& topology)
{
    UpdateGroups groups;
    for (const MoleculeType& type : topology.molecule_types) { groups.molecule_types.push_back(update_groups_of(type)); }
    return groups;
}

} // namespace parhelion
