// SPDX-License-Identifier: Apache-2.0
#include "model/frozen_atoms.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace parhelion {

namespace {

MoleculeType frozen_type(const MoleculeType& type, const std::vector<std::uint8_t>& axes)
{
    MoleculeType frozen = type;
    for (std::size_t a = 0; a < axes.size(); ++a) { frozen.atoms[a].frozen = axes[a]; }
    const auto rests = [&](std::int32_t atom) { return frozen.atoms[static_cast<std::size_t>(atom)].frozen == every_axis; };
    // A site is frozen exactly if all its constructing atoms are.
    for (const VirtualSite& site : frozen.sites)
    {
        frozen.atoms[static_cast<std::size_t>(site.atom)].frozen = std::ranges::all_of(site.from, rests) ? every_axis : 0;
    }
    std::erase_if(frozen.sites, [&](const VirtualSite& site) { return rests(site.atom); });
    std::erase_if(frozen.constraints, [&](const Constraint& c) { return rests(c.a) && rests(c.b); });
    std::erase_if(frozen.settles, [&](const Settle& s) { return rests(s.oxygen) && rests(s.hydrogen_a) && rests(s.hydrogen_b); });
    return frozen;
}

// The molecule types after freezing: copies with different frozen atoms get separate types. Unused types are left out.
class Types
{
public:
    explicit Types(const std::vector<MoleculeType>& before) : before_(before) {}

    // Returns the index of the type for a copy whose atoms are frozen along these axes.
    std::int32_t of(std::int32_t type, const std::vector<std::uint8_t>& axes)
    {
        const auto [entry, added] = index_.try_emplace({type, axes}, static_cast<std::int32_t>(types_.size()));
        if (added) { types_.push_back(frozen_type(before_[static_cast<std::size_t>(type)], axes)); }
        return entry->second;
    }
    std::vector<MoleculeType> take() { return std::move(types_); }

private:
    const std::vector<MoleculeType>& before_;
    std::vector<MoleculeType> types_;
    std::map<std::pair<std::int32_t, std::vector<std::uint8_t>>, std::int32_t> index_;
};

} // namespace

void freeze_atoms(Topology& topology, const std::vector<std::uint8_t>& axes)
{
    PARHELION_EXPECTS(static_cast<std::int64_t>(axes.size()) == topology.atom_count());
    Types types(topology.molecule_types);
    std::vector<MoleculeBlock> blocks;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto size = static_cast<std::int64_t>(topology.molecule_types[static_cast<std::size_t>(block.type)].atoms.size());
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const auto first = axes.begin() + block.first_atom + copy * size;
            const std::int32_t type = types.of(block.type, {first, first + size});
            if (copy == 0 || blocks.back().type != type) { blocks.push_back({type, 0, 0}); }
            ++blocks.back().count;
        }
    }
    topology.molecule_types = types.take();
    topology.blocks = std::move(blocks);
    topology.finish();
}

} // namespace parhelion
