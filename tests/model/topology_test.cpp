// SPDX-License-Identifier: Apache-2.0
// Finding atoms in a topology that is never expanded: every question is checked against the plainly expanded list of atoms.
#include "model/topology.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace parhelion {
namespace {

// A rigid water: one residue, three atoms.
MoleculeType water()
{
    MoleculeType type;
    type.name = "SOL";
    type.atoms = {{"OW", 0, 0, 15.9994, -0.8476}, {"HW1", 1, 0, 1.008, 0.4238}, {"HW2", 1, 0, 1.008, 0.4238}};
    type.residues = {{"SOL", 2}}; // numbered 2 in its own file: copies are numbered through the system all the same
    type.settles = {{0, 1, 2, 0.1, 0.1633}};
    return type;
}

// A chain of two residues with a bond between them, charge +1.
MoleculeType chain()
{
    MoleculeType type;
    type.name = "Protein";
    type.atoms = {{"N", 2, 0, 14, 0.5}, {"CA", 2, 0, 12, 0.25}, {"C", 2, 1, 12, 0.25}, {"O", 0, 1, 16, 0}};
    type.residues = {{"ALA", 7}, {"GLY", 8}};
    type.of(InteractionKind::HarmonicBond) = {{{0, 1, -1, -1}, 0}, {{1, 2, -1, -1}, 0}, {{2, 3, -1, -1}, 1}};
    type.constraints = {{0, 1, 0.14}};
    return type;
}

MoleculeType ion()
{
    MoleculeType type;
    type.name = "NA";
    type.atoms = {{"NA", 3, 0, 22.99, 1}};
    type.residues = {{"NA", 1}};
    return type;
}

constexpr int sol = 0, protein = 1, na = 2;

Topology topology_of(const std::vector<MoleculeBlock>& blocks)
{
    Topology topology;
    topology.molecule_types = {water(), chain(), ion()};
    topology.blocks = blocks;
    topology.finish();
    return topology;
}

// Empty blocks at the beginning, in the middle (two in a row) and at the end; one type in two blocks.
Topology mixture() { return topology_of({{na, 0}, {protein, 1}, {sol, 0}, {na, 0}, {sol, 4}, {na, 2}, {sol, 3}, {protein, 0}}); }

std::vector<AtomAddress> expanded(const Topology& topology)
{
    std::vector<AtomAddress> atoms;
    for (std::size_t b = 0; b < topology.blocks.size(); ++b)
    {
        const MoleculeBlock& block = topology.blocks[b];
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const auto first = static_cast<std::int64_t>(atoms.size());
            const auto size = static_cast<std::int32_t>(topology.molecule_types[block.type].atoms.size());
            for (std::int32_t local = 0; local < size; ++local)
            {
                atoms.push_back({static_cast<std::int32_t>(b), block.type, copy, local, first});
            }
        }
    }
    return atoms;
}

TEST(Topology, locates_every_atom_where_the_expanded_list_has_it)
{
    const Topology topology = mixture();
    const std::vector<AtomAddress> atoms = expanded(topology);
    ASSERT_EQ(topology.atom_count(), static_cast<std::int64_t>(atoms.size()));
    for (std::size_t g = 0; g < atoms.size(); ++g)
    {
        const AtomAddress found = topology.locate(static_cast<std::int64_t>(g));
        EXPECT_EQ(found.block, atoms[g].block) << g;
        EXPECT_EQ(found.type, atoms[g].type) << g;
        EXPECT_EQ(found.copy, atoms[g].copy) << g;
        EXPECT_EQ(found.local, atoms[g].local) << g;
        EXPECT_EQ(found.molecule_first_atom, atoms[g].molecule_first_atom) << g;
        EXPECT_EQ(&topology.atom(static_cast<std::int64_t>(g)), &topology.molecule_types[atoms[g].type].atoms[atoms[g].local])
            << g;
    }
}

TEST(Topology, locates_atoms_beyond_the_range_of_32_bits)
{
    const Topology topology = topology_of({{protein, 1}, {sol, 2'000'000'000}, {na, 1}});
    EXPECT_EQ(topology.atom_count(), 6'000'000'005);
    const AtomAddress last_water = topology.locate(6'000'000'003);
    EXPECT_EQ(last_water.type, sol);
    EXPECT_EQ(last_water.copy, 1'999'999'999);
    EXPECT_EQ(last_water.local, 2);
    EXPECT_EQ(topology.locate(6'000'000'004).type, na);
}

TEST(Topology, refuses_an_atom_it_does_not_have)
{
    const Topology topology = mixture();
    EXPECT_THROW(topology.locate(-1), ContractError);
    EXPECT_THROW(topology.locate(topology.atom_count()), ContractError);
    EXPECT_THROW(Topology{}.locate(0), ContractError);
}

TEST(Topology, describes_atoms_as_the_input_files_number_them)
{
    const Topology topology = mixture();
    EXPECT_EQ(topology.describe(0), "atom 1 N of residue 7 ALA"); // several residues: as numbered in the molecule
    EXPECT_EQ(topology.describe(3), "atom 4 O of residue 8 GLY");
    EXPECT_EQ(topology.describe(4), "atom 5 OW of residue 3 SOL"); // one residue: counted through the system
    EXPECT_EQ(topology.describe(15), "atom 16 HW2 of residue 6 SOL");
    EXPECT_EQ(topology.describe(16), "atom 17 NA of residue 7 NA");
    EXPECT_EQ(topology.describe(18), "atom 19 OW of residue 9 SOL");
    EXPECT_EQ(topology.residue(3).name, "GLY");
}

TEST(Topology, counts_what_the_copies_add_up_to)
{
    const Topology topology = mixture();
    EXPECT_EQ(topology.molecule_count(), 1 + 4 + 2 + 3);
    EXPECT_EQ(topology.atom_count(), 4 + 12 + 2 + 9);
    EXPECT_EQ(topology.interaction_count(InteractionKind::HarmonicBond), 3);
    EXPECT_EQ(topology.interaction_count(InteractionKind::HarmonicAngle), 0);
    EXPECT_EQ(topology.constraint_count(), 1 + 7 * 3);
    EXPECT_NEAR(topology.total_mass(), 54 + 7 * 18.0154 + 2 * 22.99, 1e-10);
    EXPECT_NEAR(topology.total_charge(), 1 + 2, 1e-12);
}

TEST(Topology, without_molecules_is_empty)
{
    const Topology topology = topology_of({{sol, 0}, {na, 0}});
    EXPECT_EQ(topology.atom_count(), 0);
    EXPECT_EQ(topology.molecule_count(), 0);
    EXPECT_EQ(topology.constraint_count(), 0);
    EXPECT_EQ(topology.total_mass(), 0);
}

} // namespace
} // namespace parhelion
