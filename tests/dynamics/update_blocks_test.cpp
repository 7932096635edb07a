// SPDX-License-Identifier: Apache-2.0
// The groups and blocks that the GPU's update deals atoms to.
#include "dynamics/update_blocks.hpp"

#include "support/refdata.hpp"

#include <gtest/gtest.h>
#include <set>

using namespace parhelion;
using namespace parhelion::test;

TEST(UpdateBlocks, hold_every_atom_and_every_constraint_once)
{
    for (const std::string& name : refdata_systems)
    {
        for (const ConstraintMode mode : {ConstraintMode::HBonds, ConstraintMode::None})
        {
            const Refdata data = load_refdata(name, mode);
            const UpdateBlocks blocks = make_update_blocks(data.system.topology, {});
            std::multiset<std::int32_t> atoms(blocks.water_atoms.begin(), blocks.water_atoms.end());
            atoms.insert(blocks.global_atoms.begin(), blocks.global_atoms.end());
            for (const Stars& stars : blocks.stars) { atoms.insert(stars.atoms.begin(), stars.atoms.end()); }
            EXPECT_EQ(static_cast<std::int64_t>(atoms.size()), data.system.topology.atom_count());
            EXPECT_EQ(std::set<std::int32_t>(atoms.begin(), atoms.end()).size(), atoms.size());
            EXPECT_EQ(blocks.constraints(), data.system.topology.constraint_count()) << name;
        }
    }
}

TEST(UpdateBlocks, take_a_carbon_and_its_hydrogens_for_a_star_but_not_a_chain)
{
    const Refdata hydrogens = load_refdata("etoh");
    const UpdateBlocks stars = make_update_blocks(hydrogens.system.topology, {});
    EXPECT_TRUE(stars.blocks.empty());
    const std::size_t ethanols = stars.stars[3].shape.size(); // one CH3, one CH2, one OH each
    EXPECT_GT(ethanols, 0u);
    EXPECT_EQ(stars.stars[2].shape.size(), ethanols);
    EXPECT_EQ(stars.stars[1].shape.size(), ethanols);

    Refdata chain = load_refdata("etoh");
    for (MoleculeType& type : chain.system.topology.molecule_types)
    {
        if (type.constraints.empty()) { continue; }
        const Constraint& first = type.constraints.front();
        const Constraint& last = type.constraints.back();
        type.constraints.push_back({first.a, last.a, 0.15});
    }
    const UpdateBlocks blocks = make_update_blocks(chain.system.topology, {});
    EXPECT_FALSE(blocks.blocks.empty());
}
