// SPDX-License-Identifier: Apache-2.0
#include "model/pair_kinds.hpp"

#include <gmock/gmock-matchers.h>
#include <utility>

namespace parhelion {
namespace {

using testing::ElementsAre;

constexpr std::uint8_t charge = pair_kind::charge, lennard_jones = pair_kind::lennard_jones, any = pair_kind::any,
                       last = pair_kind::comes_last;
constexpr std::int32_t with_lj = 0, without_lj = 1; // types

MoleculeType molecule(const std::vector<Atom>& atoms)
{
    MoleculeType type;
    type.atoms = atoms;
    return type;
}

const MoleculeType four_site = molecule(
    {{"O", with_lj, 0, 16.0, 0}, {"H", without_lj, 0, 1.0, 0.5}, {"H", without_lj, 0, 1.0, 0.5}, {"M", without_lj, 0, 0, -1.0}});
const MoleculeType three_site =
    molecule({{"O", with_lj, 0, 16.0, -0.8}, {"H", without_lj, 0, 1.0, 0.4}, {"H", without_lj, 0, 1.0, 0.4}});
const MoleculeType argon = molecule({{"AR", with_lj, 0, 40.0, 0}});
const MoleculeType alcohol =
    molecule({{"CH3", with_lj, 0, 15.0, 0}, {"C", with_lj, 0, 14.0, 0.2}, {"H", without_lj, 0, 1.0, 0.4}});

Topology topology_of(const std::vector<std::pair<MoleculeType, std::int64_t>>& contents)
{
    Topology topology;
    topology.type_names = {"with", "without"};
    topology.c6 = {2e-3, 0, 0, 0}, topology.c12 = {2e-6, 0, 0, 0};
    for (const auto& [type, copies] : contents)
    {
        topology.blocks.push_back({static_cast<std::int32_t>(topology.molecule_types.size()), copies, 0});
        topology.molecule_types.push_back(type);
    }
    topology.finish();
    return topology;
}

} // namespace

TEST(PairKinds, put_the_oxygen_of_four_site_water_last)
{
    const Topology topology = topology_of({{four_site, 10}});
    EXPECT_THAT(pair_kind::find_pair_kinds(topology), ElementsAre(ElementsAre(lennard_jones | last, charge, charge, charge)));
    EXPECT_EQ(pair_kind::count_last_atoms(topology), 10);
}

TEST(PairKinds, put_no_atom_last_in_a_molecule_with_an_atom_of_both)
{
    const Topology topology = topology_of({{four_site, 10}, {three_site, 2}, {alcohol, 1}, {argon, 1}});
    EXPECT_THAT(pair_kind::find_pair_kinds(topology),
                ElementsAre(ElementsAre(lennard_jones | last, charge, charge, charge), ElementsAre(any, charge, charge),
                            ElementsAre(lennard_jones, any, charge), ElementsAre(lennard_jones)));
    EXPECT_EQ(pair_kind::count_last_atoms(topology), 10);
}

TEST(PairKinds, count_as_both_if_too_few_atoms_would_come_last)
{
    // 4 of 43 atoms, of which a tenth is 4.3; then 4 of 40.
    const Topology few = topology_of({{four_site, 4}, {three_site, 9}});
    EXPECT_THAT(pair_kind::find_pair_kinds(few), ElementsAre(ElementsAre(any, any, any, any), ElementsAre(any, any, any)));
    EXPECT_EQ(pair_kind::count_last_atoms(few), 0);
    EXPECT_EQ(pair_kind::count_last_atoms(topology_of({{four_site, 4}, {three_site, 8}})), 4);
}

TEST(PairKinds, know_types_by_their_pairs_with_every_other_type)
{
    // Only the pair of the two types has a c12.
    Topology topology = topology_of({{four_site, 1}});
    topology.c6 = {0, 0, 0, 0}, topology.c12 = {0, 1e-6, 1e-6, 0};
    EXPECT_THAT(pair_kind::find_pair_kinds(topology), ElementsAre(ElementsAre(any, any, any, any)));
}

} // namespace parhelion
