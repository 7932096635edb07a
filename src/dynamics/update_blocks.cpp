// SPDX-License-Identifier: Apache-2.0
#include "dynamics/update_blocks.hpp"

#include "base/error.hpp"
#include "model/frozen_atoms.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// A group of coupled constraints of a molecule type: its first entries in the shapes, and its atoms.
struct GroupShape
{
    std::int32_t first_atom = 0, first_bond = 0; // index of its first atom, and of its first bond, in BlockShapes
    std::int32_t couplings = 0, series_order = 0, has_triangle = 0;
    std::vector<int> atoms; // indices in the molecule
    std::int32_t bonds = 0;
};

struct TypeStar
{
    std::int32_t shape = 0;
    std::vector<int> atoms; // indices in the molecule: centre, outer atoms
};

struct TypeShape
{
    std::vector<GroupShape> groups;
    std::vector<TypeStar> stars;
    std::vector<int> free_atoms; // indices in the molecule
    std::vector<std::int32_t> water_kinds, site_water_kinds;
};

GroupShape add_group(const LincsGroup& group, const LincsSettings& settings, BlockShapes& shapes)
{
    GroupShape shape;
    shape.first_atom = static_cast<std::int32_t>(shapes.atoms.size());
    shape.first_bond = static_cast<std::int32_t>(shapes.bonds.size());
    shape.couplings = static_cast<std::int32_t>(group.coupled.size());
    shape.series_order = series_order(group, settings);
    shape.has_triangle = group.has_triangle ? 1 : 0;
    shape.atoms = group.atoms;
    shape.bonds = static_cast<std::int32_t>(group.bonds.size());
    std::vector<std::vector<ShapeEnd>> ends(group.atoms.size());
    for (std::size_t i = 0; i < group.bonds.size(); ++i)
    {
        const LincsBond& bond = group.bonds[i];
        const auto index = static_cast<std::int32_t>(i);
        ends[static_cast<std::size_t>(bond.a)].push_back({index, -1});
        ends[static_cast<std::size_t>(bond.b)].push_back({index, 1});
        const int first = group.coupling_start[i];
        shapes.bonds.push_back({bond.a, bond.b, static_cast<std::int32_t>(shapes.coupled.size()),
                                group.coupling_start[i + 1] - first, bond.length, group.weight[i]});
        for (int k = first; k < group.coupling_start[i + 1]; ++k)
        {
            shapes.coupled.push_back(group.coupled[static_cast<std::size_t>(k)]);
            shapes.coefficient.push_back(group.coefficient[static_cast<std::size_t>(k)]);
        }
    }
    for (std::size_t a = 0; a < group.atoms.size(); ++a)
    {
        shapes.atoms.push_back(
            {group.inverse_mass[a], static_cast<std::int32_t>(shapes.ends.size()), static_cast<std::int32_t>(ends[a].size())});
        shapes.ends.insert(shapes.ends.end(), ends[a].begin(), ends[a].end());
    }
    return shape;
}

// Returns the atom that all constraints of the group share; -1 if there is none, or if the constraints are too many for a star.
int centre_of(const LincsGroup& group)
{
    if (group.bonds.size() > largest_star || group.atoms.size() != group.bonds.size() + 1) { return -1; }
    for (const int atom : {group.bonds[0].a, group.bonds[0].b})
    {
        const auto holds = [&](const LincsBond& bond) { return bond.a == atom || bond.b == atom; };
        if (std::all_of(group.bonds.begin(), group.bonds.end(), holds)) { return atom; }
    }
    return -1;
}

TypeStar add_star(const LincsGroup& group, int centre, const LincsSettings& settings, std::vector<StarShape>& shapes)
{
    StarShape shape;
    shape.series_order = series_order(group, settings);
    shape.inverse_mass[0] = group.inverse_mass[static_cast<std::size_t>(centre)];
    TypeStar star{static_cast<std::int32_t>(shapes.size()), {group.atoms[static_cast<std::size_t>(centre)]}};
    for (std::size_t i = 0; i < group.bonds.size(); ++i)
    {
        const LincsBond& bond = group.bonds[i];
        const auto outer = static_cast<std::size_t>(bond.a == centre ? bond.b : bond.a);
        star.atoms.push_back(group.atoms[outer]);
        shape.inverse_mass[i + 1] = group.inverse_mass[outer];
        shape.length[i] = bond.length;
        shape.weight[i] = group.weight[i];
    }
    shapes.push_back(shape);
    return star;
}

// Returns the site that is a mean of this water's atoms alone, or null if the water has none.
const VirtualSite* site_of_water(const Settle& s, const MoleculeType& type)
{
    const auto is_of_water = [&](std::int32_t atom) { return atom == s.oxygen || atom == s.hydrogen_a || atom == s.hydrogen_b; };
    const auto found = std::ranges::find_if(
        type.sites, [&](const VirtualSite& site) { return is_linear(site.kind) && std::ranges::all_of(site.from, is_of_water); });
    return found == type.sites.end() ? nullptr : &*found;
}

SiteWater make_site_water(const SettleWater& water, const VirtualSite& site)
{
    const auto weight = [&](std::int32_t atom) {
        double first = 1;
        for (std::size_t k = 1; k < site.from.size(); ++k)
        {
            if (site.from[k] == atom) { return site.parameters[k - 1]; }
            first -= site.parameters[k - 1];
        }
        return site.from[0] == atom ? first : 0;
    };
    return {water, site.atom, weight(water.hydrogen_a), weight(water.hydrogen_b)};
}

enum class Sites : std::uint8_t
{
    WithWaters,
    Apart // the update does not move sites
};

void add_water(const Settle& s, const MoleculeType& type, Sites sites, TypeShape& shape, UpdateBlocks& blocks)
{
    const auto mass = [&](int atom) { return type.atoms[static_cast<std::size_t>(atom)].mass; };
    const SettleWater water = make_settle(s.oxygen, s.hydrogen_a, s.hydrogen_b, s.oh, s.hh, mass(s.oxygen), mass(s.hydrogen_a));
    const VirtualSite* const site = sites == Sites::WithWaters ? site_of_water(s, type) : nullptr;
    if (site != nullptr)
    {
        shape.site_water_kinds.push_back(static_cast<std::int32_t>(blocks.site_water_kinds.size()));
        blocks.site_water_kinds.push_back(make_site_water(water, *site));
        return;
    }
    shape.water_kinds.push_back(static_cast<std::int32_t>(blocks.water_kinds.size()));
    blocks.water_kinds.push_back(water);
}

TypeShape add_type(const MoleculeType& type, const LincsSettings& settings, Sites sites, UpdateBlocks& blocks)
{
    TypeShape shape;
    std::vector<LincsBond> bonds;
    std::vector<double> inverse_mass(type.atoms.size());
    std::vector<bool> is_bound(type.atoms.size());
    for (const Constraint& c : type.constraints)
    {
        bonds.push_back({c.a, c.b, c.length});
        for (const int atom : {c.a, c.b})
        {
            inverse_mass[static_cast<std::size_t>(atom)] = mobile_inverse_mass(type.atoms[static_cast<std::size_t>(atom)]);
            is_bound[static_cast<std::size_t>(atom)] = true;
        }
    }
    for (const LincsGroup& group : make_lincs_groups(bonds, inverse_mass))
    {
        const int centre = centre_of(group);
        if (centre < 0) { shape.groups.push_back(add_group(group, settings, blocks.shapes)); }
        else { shape.stars.push_back(add_star(group, centre, settings, blocks.star_shapes)); }
    }
    for (const Settle& s : type.settles)
    {
        add_water(s, type, sites, shape, blocks);
        for (const int atom : {s.oxygen, s.hydrogen_a, s.hydrogen_b}) { is_bound[static_cast<std::size_t>(atom)] = true; }
    }
    for (const VirtualSite& site : type.sites) { is_bound[static_cast<std::size_t>(site.atom)] = true; }
    for (std::size_t atom = 0; atom < is_bound.size(); ++atom)
    {
        if (!is_bound[atom]) { shape.free_atoms.push_back(static_cast<int>(atom)); }
    }
    return shape;
}

// Fills update blocks with groups, one block after another.
class Packer
{
public:
    explicit Packer(UpdateBlocks& blocks) : blocks_(blocks) {}

    void add(const GroupShape& group, std::int64_t first_atom)
    {
        UpdateBlock& block = with_room_for(static_cast<std::int32_t>(group.atoms.size()), group.bonds);
        const auto index = static_cast<std::int16_t>(block.groups++);
        blocks_.groups.push_back({block.atoms, block.bonds, group.series_order, group.has_triangle});
        for (std::size_t a = 0; a < group.atoms.size(); ++a)
        {
            blocks_.global_atoms.push_back(static_cast<std::int32_t>(first_atom + group.atoms[a]));
            blocks_.atoms.push_back({group.first_atom + static_cast<std::int32_t>(a), index});
        }
        for (std::int32_t b = 0; b < group.bonds; ++b)
        {
            const std::int32_t shape = group.first_bond + b;
            blocks_.bonds.push_back({shape, index});
            blocks_.bond_couplings.push_back(block.couplings);
            block.couplings += blocks_.shapes.bonds[static_cast<std::size_t>(shape)].coupled;
        }
        block.atoms += static_cast<std::int32_t>(group.atoms.size());
        block.bonds += group.bonds;
        block.series_order = std::max(block.series_order, group.series_order);
    }

private:
    UpdateBlock& with_room_for(std::int32_t atoms, std::int32_t bonds)
    {
        if (blocks_.blocks.empty() || blocks_.blocks.back().atoms + atoms > update_block_size ||
            blocks_.blocks.back().bonds + bonds > update_block_size)
        {
            UpdateBlock& block = blocks_.blocks.emplace_back();
            block.first_atom = static_cast<std::int32_t>(blocks_.atoms.size());
            block.first_bond = static_cast<std::int32_t>(blocks_.bonds.size());
            block.first_group = static_cast<std::int32_t>(blocks_.groups.size());
        }
        return blocks_.blocks.back();
    }

    UpdateBlocks& blocks_;
};

// Calls visit(first global atom, shape of its type) for every molecule.
template <class Visit>
void for_each_molecule(const Topology& topology, const std::vector<TypeShape>& types, Visit&& visit)
{
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto type = static_cast<std::size_t>(block.type);
        const auto size = static_cast<std::int64_t>(topology.molecule_types[type].atoms.size());
        for (std::int64_t copy = 0; copy < block.count; ++copy) { visit(block.first_atom + copy * size, types[type]); }
    }
}

} // namespace

bool all_sites_are_of_waters(const Topology& topology)
{
    return std::ranges::all_of(topology.molecule_types, [](const MoleculeType& type) {
        const auto with_site =
            std::ranges::count_if(type.settles, [&](const Settle& s) { return site_of_water(s, type) != nullptr; });
        return static_cast<std::size_t>(with_site) == type.sites.size();
    });
}

UpdateBlocks make_update_blocks(const Topology& topology, const LincsSettings& settings)
{
    const Sites sites = all_sites_are_of_waters(topology) ? Sites::WithWaters : Sites::Apart;
    UpdateBlocks blocks;
    blocks.all_atoms = topology.atom_count();
    std::vector<TypeShape> types;
    for (const MoleculeType& type : topology.molecule_types) { types.push_back(add_type(type, settings, sites, blocks)); }

    Packer packer(blocks);
    for_each_molecule(topology, types, [&](std::int64_t first, const TypeShape& type) {
        for (const GroupShape& group : type.groups) { packer.add(group, first); }
        for (const std::int32_t kind : type.water_kinds)
        {
            const SettleWater& water = blocks.water_kinds[static_cast<std::size_t>(kind)];
            for (const int atom : {water.oxygen, water.hydrogen_a, water.hydrogen_b})
            {
                blocks.water_atoms.push_back(static_cast<std::int32_t>(first + atom));
            }
            blocks.kind_of_water.push_back(kind);
        }
        for (const std::int32_t kind : type.site_water_kinds)
        {
            const auto& [water, site, weight_a, weight_b] = blocks.site_water_kinds[static_cast<std::size_t>(kind)];
            for (const int atom : {water.oxygen, water.hydrogen_a, water.hydrogen_b, site})
            {
                blocks.site_water_atoms.push_back(static_cast<std::int32_t>(first + atom));
            }
            blocks.kind_of_site_water.push_back(kind);
        }
        for (const TypeStar& star : type.stars)
        {
            Stars& stars = blocks.stars[star.atoms.size() - 1];
            stars.shape.push_back(star.shape);
            for (const int atom : star.atoms) { stars.atoms.push_back(static_cast<std::int32_t>(first + atom)); }
        }
        for (const int atom : type.free_atoms) { blocks.stars[0].atoms.push_back(static_cast<std::int32_t>(first + atom)); }
    });
    return blocks;
}

int most_waiting_blocks(std::size_t shared_of_block, std::size_t shared_of_multiprocessor)
{
    constexpr std::size_t always_allowed = 48 * 1024, by_system = 1024; // bytes; by_system: CUDA's own, for each block
    constexpr int most = 2;                                             // blocks; the registers would suffice for three or four
    const std::size_t shared = shared_of_block + shared_beside_arena;
    if (shared > always_allowed) { return 0; }
    return std::clamp(static_cast<int>(shared_of_multiprocessor / (shared + by_system)) - 1, 0, most);
}

LincsArenas plan_arenas(std::vector<UpdateBlock>& blocks, std::size_t shared)
{
    LincsArenas arenas;
    std::size_t all = 0;
    for (UpdateBlock& block : blocks)
    {
        const std::size_t bytes = (lincs_arena_bytes(block) + 15) / 16 * 16;
        block.arena = static_cast<std::int64_t>(all);
        all += bytes;
        arenas.largest = std::max(arenas.largest, bytes);
    }
    if (arenas.largest + shared_beside_arena > shared) { arenas.all = all; }
    return arenas;
}

} // namespace parhelion
