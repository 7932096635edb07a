// SPDX-License-Identifier: Apache-2.0
// `constraints = h-bonds | all-bonds`: which bonds become constraints, with which length, and which stay.
#include "model/topology.hpp"

#include <gmock/gmock-more-matchers.h>
#include <utility>

namespace parhelion {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Ends = std::pair<int, int>;

// Ethanol's heavy chain with three of its hydrogens, one of them written in lower case: C1-C2-O-HO, H1-C1, h2-C2. The C-O bond is
// of the G96 form, to see that both kinds are converted.
Topology ethanol()
{
    Topology topology;
    topology.parameters[static_cast<int>(InteractionKind::HarmonicBond)] = {
        {0.1529, 224262.4}, {0.109, 284512}, {0.0945, 462750.4}};
    topology.parameters[static_cast<int>(InteractionKind::G96Bond)] = {{0.141, 267776}};
    MoleculeType type;
    type.name = "ethanol";
    for (const char* name : {"C1", "C2", "O", "HO", "H1", "h2"}) { type.atoms.push_back({name, 0, 0, 1, 0}); }
    type.residues = {{"ETH", 1}};
    type.of(InteractionKind::HarmonicBond) = {{{0, 1, -1, -1}, 0}, {{4, 0, -1, -1}, 1}, {{1, 5, -1, -1}, 1}, {{2, 3, -1, -1}, 2}};
    type.of(InteractionKind::G96Bond) = {{{1, 2, -1, -1}, 0}};
    type.of(InteractionKind::HarmonicAngle) = {{{0, 1, 2, -1}, 0}};
    topology.molecule_types = {type};
    topology.blocks = {{0, 10}};
    topology.finish();
    return topology;
}

std::vector<Ends> bonds(const Topology& topology, InteractionKind kind = InteractionKind::HarmonicBond)
{
    std::vector<Ends> ends;
    for (const Interaction& bond : topology.molecule_types[0].of(kind)) { ends.emplace_back(bond.atoms[0], bond.atoms[1]); }
    return ends;
}

std::vector<Ends> constraints(const Topology& topology)
{
    std::vector<Ends> ends;
    for (const Constraint& constraint : topology.molecule_types[0].constraints) { ends.emplace_back(constraint.a, constraint.b); }
    return ends;
}

double length_of(const Topology& topology, Ends ends)
{
    for (const Constraint& c : topology.molecule_types[0].constraints)
    {
        if (Ends{c.a, c.b} == ends) { return c.length; }
    }
    return -1;
}

TEST(ConstraintConversion, of_none_leaves_every_bond)
{
    Topology topology = ethanol();
    convert_bonds_to_constraints(topology, ConstraintMode::None);
    EXPECT_EQ(bonds(topology), bonds(ethanol()));
    EXPECT_THAT(constraints(topology), IsEmpty());
}

TEST(ConstraintConversion, of_h_bonds_takes_the_bonds_with_a_hydrogen_at_either_end)
{
    Topology topology = ethanol();
    convert_bonds_to_constraints(topology, ConstraintMode::HBonds);
    EXPECT_THAT(constraints(topology), UnorderedElementsAre(Ends{4, 0}, Ends{1, 5}, Ends{2, 3}));
    EXPECT_THAT(bonds(topology), ElementsAre(Ends{0, 1}));
    EXPECT_THAT(bonds(topology, InteractionKind::G96Bond), ElementsAre(Ends{1, 2}));
    EXPECT_EQ(length_of(topology, {2, 3}), 0.0945);
    EXPECT_EQ(length_of(topology, {4, 0}), 0.109);
    EXPECT_EQ(topology.constraint_count(), 30);
}

TEST(ConstraintConversion, of_all_bonds_takes_both_kinds_of_bond_and_nothing_else)
{
    Topology topology = ethanol();
    convert_bonds_to_constraints(topology, ConstraintMode::AllBonds);
    EXPECT_THAT(constraints(topology), UnorderedElementsAre(Ends{0, 1}, Ends{4, 0}, Ends{1, 5}, Ends{2, 3}, Ends{1, 2}));
    EXPECT_THAT(bonds(topology), IsEmpty());
    EXPECT_THAT(bonds(topology, InteractionKind::G96Bond), IsEmpty());
    EXPECT_EQ(length_of(topology, {0, 1}), 0.1529);
    EXPECT_EQ(length_of(topology, {1, 2}), 0.141);
    EXPECT_EQ(topology.interaction_count(InteractionKind::HarmonicAngle), 10);
}

TEST(ConstraintConversion, keeps_the_constraints_of_the_topology)
{
    Topology topology = ethanol();
    topology.molecule_types[0].constraints = {{0, 2, 0.24}};
    convert_bonds_to_constraints(topology, ConstraintMode::HBonds);
    EXPECT_THAT(constraints(topology), UnorderedElementsAre(Ends{0, 2}, Ends{4, 0}, Ends{1, 5}, Ends{2, 3}));
    EXPECT_EQ(length_of(topology, {0, 2}), 0.24);
}

// A water kept rigid by a settle whose topology lists its bonds as well: they hold nothing that the settle does not.
TEST(ConstraintConversion, drops_the_bonds_inside_a_settle)
{
    for (const ConstraintMode mode : {ConstraintMode::HBonds, ConstraintMode::AllBonds})
    {
        Topology topology;
        topology.parameters[static_cast<int>(InteractionKind::HarmonicBond)] = {{0.1, 345000}};
        MoleculeType type;
        for (const char* name : {"OW", "HW1", "HW2"}) { type.atoms.push_back({name, 0, 0, 1, 0}); }
        type.settles = {{0, 1, 2, 0.1, 0.1633}};
        type.of(InteractionKind::HarmonicBond) = {{{0, 1, -1, -1}, 0}, {{0, 2, -1, -1}, 0}};
        topology.molecule_types = {type};
        topology.blocks = {{0, 5}};
        topology.finish();
        convert_bonds_to_constraints(topology, mode);
        EXPECT_THAT(bonds(topology), IsEmpty());
        EXPECT_THAT(constraints(topology), IsEmpty());
        EXPECT_EQ(topology.constraint_count(), 15);
    }
}

} // namespace
} // namespace parhelion
