// SPDX-License-Identifier: Apache-2.0
#include "model/update_groups.hpp"

#include "support/refdata.hpp"

#include <algorithm>
#include <gmock/gmock-matchers.h>
#include <map>

namespace parhelion {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

MoleculeType atoms(int count)
{
    MoleculeType type;
    type.atoms.resize(static_cast<std::size_t>(count));
    return type;
}

MoleculeUpdateGroups groups_of(const MoleculeType& type)
{
    Topology topology;
    topology.molecule_types = {type};
    return make_update_groups(topology).molecule_types.at(0);
}

// The number of atoms in each group.
std::map<std::int32_t, int> atoms_by_reference(const MoleculeUpdateGroups& groups)
{
    std::map<std::int32_t, int> count;
    for (const std::int32_t reference : groups.reference_of_atom) { ++count[reference]; }
    return count;
}

MoleculeType chain(int length)
{
    MoleculeType type = atoms(length);
    for (std::int32_t a = 0; a + 1 < length; ++a) { type.constraints.push_back({a, a + 1, 0.15}); }
    return type;
}

// Independent of walks: the constraints between any two atoms by Floyd's algorithm.
std::vector<std::vector<int>> all_distances(const MoleculeType& type)
{
    constexpr int far = 1 << 20;
    const std::size_t n = type.atoms.size();
    std::vector<std::vector<int>> d(n, std::vector<int>(n, far));
    for (std::size_t a = 0; a < n; ++a) { d[a][a] = 0; }
    const auto join = [&](std::int32_t a, std::int32_t b) {
        d[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = 1;
        d[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)] = 1;
    };
    for (const Constraint& c : type.constraints) { join(c.a, c.b); }
    for (const Settle& s : type.settles) { join(s.oxygen, s.hydrogen_a), join(s.oxygen, s.hydrogen_b); }
    for (std::size_t k = 0; k < n; ++k)
    {
        for (std::size_t a = 0; a < n; ++a)
        {
            if (d[a][k] == far) { continue; }
            for (std::size_t b = 0; b < n; ++b) { d[a][b] = std::min(d[a][b], d[a][k] + d[k][b]); }
        }
    }
    for (auto& row : d)
    {
        for (int& distance : row) { distance = distance == far ? -1 : distance; }
    }
    return d;
}

// What the definition says, atom by atom.
void expect_partition_with_centres(const MoleculeType& type)
{
    const MoleculeUpdateGroups result = groups_of(type);
    const auto d = all_distances(type);
    const std::size_t n = type.atoms.size();
    ASSERT_EQ(result.reference_of_atom.size(), n);
    const auto farthest = [&](std::size_t a) { return *std::max_element(d[a].begin(), d[a].end()); };
    for (std::size_t a = 0; a < n; ++a)
    {
        std::size_t centre = n;
        for (std::size_t b = 0; b < n; ++b)
        {
            EXPECT_EQ(result.reference_of_atom[a] == result.reference_of_atom[b], d[a][b] >= 0) << a << " " << b;
            if (d[a][b] >= 0 && (centre == n || farthest(b) < farthest(centre))) { centre = b; }
        }
        EXPECT_EQ(result.reference_of_atom[a], static_cast<std::int32_t>(centre)) << a;
    }
}

TEST(UpdateGroups, of_a_rigid_water_is_the_water_about_its_oxygen)
{
    MoleculeType water = atoms(3);
    water.settles = {{0, 1, 2, 0.1, 0.1633}};
    EXPECT_THAT(groups_of(water).reference_of_atom, ElementsAre(0, 0, 0));
    water.settles = {{1, 0, 2, 0.1, 0.1633}};
    EXPECT_THAT(groups_of(water).reference_of_atom, ElementsAre(1, 1, 1));
}

TEST(UpdateGroups, of_free_atoms_are_the_atoms) { EXPECT_THAT(groups_of(atoms(3)).reference_of_atom, ElementsAre(0, 1, 2)); }

TEST(UpdateGroups, hold_virtual_sites_with_their_atoms_also_through_other_sites)
{
    MoleculeType type = atoms(7);
    type.constraints = {{0, 1, 0.1}};
    type.sites = {{SiteKind::Linear, 4, {1, 2}, {0.5}}, {SiteKind::Linear, 5, {4, 3}, {0.5}}};
    const std::map<std::int32_t, int> expected{{4, 6}, {6, 1}}; // 0-1-4-2, 4-5-3; no atom is nearer to all than 4
    EXPECT_EQ(atoms_by_reference(groups_of(type)), expected);
}

TEST(UpdateGroups, have_their_middle_as_reference_and_of_two_middles_the_lower)
{
    for (int length = 1; length < 9; ++length)
    {
        EXPECT_THAT(groups_of(chain(length)).reference_of_atom, Each((length - 1) / 2)) << length;
    }
    // The same chain, numbered otherwise: 3 - 0 - 2 - 1.
    MoleculeType type = atoms(4);
    type.constraints = {{1, 2, 0.1}, {0, 2, 0.1}, {3, 0, 0.1}};
    EXPECT_THAT(groups_of(type).reference_of_atom, Each(0));
}

TEST(UpdateGroups, of_ethanol_with_h_bonds_are_the_heavy_atoms_with_their_hydrogens)
{
    const test::Refdata data = test::load_refdata("etoh");
    for (const MoleculeType& type : data.system.topology.molecule_types)
    {
        expect_partition_with_centres(type);
        if (type.name != "ETH") { continue; }
        const std::map<std::int32_t, int> atoms_of = atoms_by_reference(groups_of(type));
        ASSERT_THAT(atoms_of, SizeIs(3));
        std::map<char, std::vector<int>> sizes; // by element of the reference atom
        for (const auto& [reference, count] : atoms_of)
        {
            sizes[type.atoms[static_cast<std::size_t>(reference)].name[0]].push_back(count);
        }
        EXPECT_THAT(sizes['C'], testing::UnorderedElementsAre(4, 3));
        EXPECT_THAT(sizes['O'], ElementsAre(2));
    }
}

TEST(UpdateGroups, of_ethanol_with_all_bonds_is_the_molecule_about_its_middle_carbon)
{
    const test::Refdata data = test::load_refdata("etoh", ConstraintMode::AllBonds);
    bool found = false;
    for (const MoleculeType& type : data.system.topology.molecule_types)
    {
        expect_partition_with_centres(type);
        if (type.name != "ETH") { continue; }
        found = true;
        const MoleculeUpdateGroups groups = groups_of(type);
        ASSERT_THAT(atoms_by_reference(groups), ElementsAre(testing::Pair(testing::_, 9)));
        // The middle carbon is bonded to the other carbon and to the oxygen.
        std::string neighbours;
        const std::int32_t middle = groups.reference_of_atom.front();
        for (const Constraint& c : type.constraints)
        {
            if (c.a == middle) { neighbours += type.atoms[static_cast<std::size_t>(c.b)].name[0]; }
            if (c.b == middle) { neighbours += type.atoms[static_cast<std::size_t>(c.a)].name[0]; }
        }
        std::sort(neighbours.begin(), neighbours.end());
        EXPECT_EQ(type.atoms[static_cast<std::size_t>(middle)].name[0], 'C');
        EXPECT_EQ(neighbours, "CHHO");
    }
    EXPECT_TRUE(found);
}

TEST(UpdateGroups, of_a_protein_are_what_the_definition_says)
{
    // With bonds to hydrogen constrained there are no rings: every constraint joins two groups into one.
    const test::Refdata data = test::load_refdata("villin");
    const auto& types = data.system.topology.molecule_types;
    const MoleculeUpdateGroups groups = groups_of(types.at(0));
    ASSERT_GT(types.at(0).constraints.size(), 100u);
    EXPECT_EQ(atoms_by_reference(groups).size(), types.at(0).atoms.size() - types.at(0).constraints.size());
    for (const MoleculeType& type : types) { expect_partition_with_centres(type); }
    for (const MoleculeType& type : test::load_refdata("villin", ConstraintMode::AllBonds).system.topology.molecule_types)
    {
        expect_partition_with_centres(type);
    }
}

} // namespace
} // namespace parhelion
