// SPDX-License-Identifier: Apache-2.0
// The groups and blocks that the GPU's update deals atoms to.
#include "dynamics/update_blocks.hpp"

#include "dynamics/toy_systems.hpp"
#include "support/refdata.hpp"

#include <array>
#include <gtest/gtest.h>
#include <map>
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

TEST(UpdateBlocks, take_a_site_with_its_water_whatever_the_order_of_its_atoms)
{
    const System system = toy_system({{rigid_water(), 3}, {rigid_water_with_site(), 2}, {single_atom(40), 1}}, {3, 3, 3}, 300, 1);
    EXPECT_TRUE(all_sites_are_of_waters(system.topology));
    const UpdateBlocks blocks = make_update_blocks(system.topology, {});
    EXPECT_EQ(blocks.water_atoms.size(), 9u);
    EXPECT_EQ(blocks.site_water_atoms, (std::vector<std::int32_t>{9, 10, 11, 12, 13, 14, 15, 16}));
    EXPECT_EQ(blocks.stars[0].atoms, (std::vector<std::int32_t>{17}));
    EXPECT_EQ(blocks.constraints(), 15);
    ASSERT_EQ(blocks.site_water_kinds.size(), 1u);
    EXPECT_NEAR(blocks.site_water_kinds[0].weight_a, 0.2, 1e-15);
    EXPECT_NEAR(blocks.site_water_kinds[0].weight_b, 0.1, 1e-15);
}

TEST(UpdateBlocks, tell_sites_of_rigid_waters_from_all_others)
{
    const auto are_of_waters = [](const MoleculeType& type) {
        Topology topology;
        topology.molecule_types = {type};
        return all_sites_are_of_waters(topology);
    };
    EXPECT_TRUE(are_of_waters(rigid_water().type));
    EXPECT_TRUE(are_of_waters(rigid_water_with_site().type));
    EXPECT_FALSE(are_of_waters(molecule_with_sites().type));
    MoleculeType two = rigid_water_with_site().type, flexible = two, out_of_plane = two;
    two.atoms.push_back(toy_atom("MW", 0));
    two.sites.push_back({SiteKind::Linear, 4, {0, 1}, {0.5}});
    EXPECT_FALSE(are_of_waters(two));
    flexible.settles.clear();
    EXPECT_FALSE(are_of_waters(flexible));
    out_of_plane.sites[0] = {SiteKind::OutOfPlane3, 3, {0, 1, 2}, {0.1, 0.1, 1}};
    EXPECT_FALSE(are_of_waters(out_of_plane));
}

// Chains of constraints, and the shared memory of a thread block on GPUs that people have: 99 KiB (8.6, 8.9, 12.x), 163 (8.0),
// 227 (9.0, 10.0).
TEST(UpdateBlocks, have_their_arenas_in_shared_memory_if_a_gpu_has_so_much)
{
    const std::map<int, std::array<bool, 3>> fits = {{600, {true, true, true}},
                                                     {700, {false, true, true}},
                                                     {1000, {false, true, true}},
                                                     {1134, {false, false, true}},
                                                     {1700, {false, false, false}}};
    constexpr std::array<std::size_t, 3> limits{99 * 1024, 163 * 1024, 227 * 1024};
    for (const auto& [atoms, expected] : fits)
    {
        const System system = toy_system({{chain(atoms), 2}, {ring(), 30}}, {4, 4, 4}, 300, 1);
        for (std::size_t k = 0; k < limits.size(); ++k)
        {
            SCOPED_TRACE(testing::Message() << atoms << " atoms, " << limits[k] / 1024 << " KiB");
            std::vector<UpdateBlock> blocks = make_update_blocks(system.topology, {}).blocks;
            const LincsArenas arenas = plan_arenas(blocks, limits[k]);
            EXPECT_EQ(arenas.all == 0, expected[k]);
            if (arenas.all == 0) { EXPECT_LE(arenas.largest + shared_beside_arena, limits[k]); }
            std::int64_t end = 0;
            for (const UpdateBlock& block : blocks) // one behind the other, each aligned for what is in it
            {
                EXPECT_EQ(block.arena % 16, 0);
                EXPECT_GE(block.arena, end);
                end = block.arena + static_cast<std::int64_t>(lincs_arena_bytes(block));
                EXPECT_LE(lincs_arena_bytes(block), arenas.largest);
            }
            if (arenas.all > 0) { EXPECT_LE(end, static_cast<std::int64_t>(arenas.all)); }
        }
    }
}

TEST(UpdateBlocks, leave_room_for_what_others_wait_for)
{
    constexpr std::size_t kib = 1024;
    for (const std::size_t multiprocessor : {100 * kib, 164 * kib, 228 * kib})
    {
        EXPECT_EQ(most_waiting_blocks(17 * kib, multiprocessor), 2); // no arena
        for (std::size_t shared = 0; shared < 227 * kib; shared += kib)
        {
            const int waiting = most_waiting_blocks(shared, multiprocessor);
            EXPECT_LE((static_cast<std::size_t>(waiting) + (waiting > 0 ? 1 : 0)) * shared, multiprocessor) << shared;
            if (shared > 48 * kib) { EXPECT_EQ(waiting, 0) << shared; }
        }
    }
    EXPECT_EQ(most_waiting_blocks(40 * kib, 100 * kib), 1);
    EXPECT_EQ(most_waiting_blocks(40 * kib, 64 * kib), 0);
}
