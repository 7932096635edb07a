// SPDX-License-Identifier: Apache-2.0
// mass-repartition-factor: the least mass, who lends it, what is refused.
#include "input_folder.hpp"
#include "io/input/mass_repartition.hpp"
#include "small_input.hpp"

#include <gmock/gmock-more-matchers.h>

namespace parhelion {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Atoms of these masses, bound as the pairs say.
Topology bound_atoms(const std::vector<double>& masses, const std::vector<std::pair<int, int>>& bonds)
{
    Topology topology;
    MoleculeType type;
    type.name = "MOL";
    for (const double mass : masses) { type.atoms.push_back({"X", 0, 0, mass, 0}); }
    topology.parameters[static_cast<int>(InteractionKind::HarmonicBond)] = {{0.1, 1000}};
    for (const auto& [a, b] : bonds) { type.of(InteractionKind::HarmonicBond).push_back({{a, b}, 0}); }
    topology.molecule_types = {type};
    topology.blocks = {{0, 3}};
    topology.finish();
    return topology;
}

std::vector<double> masses_of(const Topology& topology, std::size_t type = 0)
{
    std::vector<double> masses;
    for (const Atom& atom : topology.molecule_types[type].atoms) { masses.push_back(atom.mass); }
    return masses;
}

const SourceLocation option_at{"md.mdp", 7};

TEST(MassRepartition, takes_what_the_lightest_lack_from_the_atoms_they_are_bound_to)
{
    Diagnostics diagnostics;
    // A methyl group at an oxygen with its hydrogen, which is deuterium.
    Topology topology = bound_atoms({12, 1, 1, 1, 16, 2}, {{0, 1}, {2, 0}, {0, 3}, {0, 4}, {4, 5}});
    repartition_masses(2.5, option_at, topology, diagnostics);
    EXPECT_THAT(masses_of(topology), ElementsAre(7.5, 2.5, 2.5, 2.5, 15.5, 2.5));
    EXPECT_DOUBLE_EQ(topology.total_mass(), 3 * 33);
    EXPECT_THAT(diagnostics.warnings, IsEmpty());
    ASSERT_THAT(diagnostics.notes, SizeIs(1));
    EXPECT_EQ(diagnostics.notes[0].id, "N192");
    EXPECT_THAT(diagnostics.notes[0].message, HasSubstr("2.5 u"));
}

TEST(MassRepartition, by_a_factor_of_one_leaves_everything)
{
    Diagnostics diagnostics;
    Topology topology = bound_atoms({12, 1}, {{0, 1}});
    repartition_masses(1, option_at, topology, diagnostics);
    EXPECT_THAT(masses_of(topology), ElementsAre(12, 1));
    EXPECT_THAT(diagnostics.notes, IsEmpty());
}

// The oxygen of a water lends to both hydrogens, whether a settle, constraints or bonds hold them, and with a bond between them.
TEST(MassRepartition, is_of_waters_too)
{
    Topology settled = bound_atoms({16, 1, 1}, {});
    settled.molecule_types[0].settles = {{0, 1, 2, 0.1, 0.16}};
    Topology constrained = bound_atoms({16, 1, 1}, {});
    constrained.molecule_types[0].constraints = {{0, 1, 0.1}, {0, 2, 0.1}, {1, 2, 0.16}};
    for (Topology topology :
         {settled, constrained, bound_atoms({16, 1, 1}, {{0, 1}, {0, 2}}), bound_atoms({16, 1, 1}, {{0, 1}, {0, 2}, {1, 2}})})
    {
        Diagnostics diagnostics;
        repartition_masses(3, option_at, topology, diagnostics);
        EXPECT_THAT(masses_of(topology), ElementsAre(12, 3, 3));
        EXPECT_THAT(diagnostics.warnings, IsEmpty());
    }
}

TEST(MassRepartition, leaves_sites_without_mass_and_molecules_that_are_not_there)
{
    Diagnostics diagnostics;
    Topology topology = bound_atoms({16, 0, 2}, {{0, 2}});
    topology.molecule_types.push_back(bound_atoms({1}, {}).molecule_types[0]); // of no block
    repartition_masses(2, option_at, topology, diagnostics);
    EXPECT_THAT(masses_of(topology), ElementsAre(14, 0, 4));
}

TEST(MassRepartition, warns_of_light_atoms_that_are_bound_to_none)
{
    Diagnostics diagnostics;
    Topology topology = bound_atoms({12, 1, 2}, {{0, 1}});
    repartition_masses(3, option_at, topology, diagnostics);
    EXPECT_THAT(masses_of(topology), ElementsAre(10, 3, 2));
    ASSERT_THAT(diagnostics.warnings, SizeIs(1));
    EXPECT_EQ(diagnostics.warnings[0].id, "W190");
    EXPECT_THAT(diagnostics.warnings[0].message, HasSubstr("atom 3 (X) of molecule type MOL"));
}

TEST(MassRepartition, refuses_what_has_no_answer)
{
    const auto repartition = [](double factor, Topology topology) {
        Diagnostics diagnostics;
        repartition_masses(factor, option_at, topology, diagnostics);
    };
    const Topology methane = bound_atoms({12, 1, 1, 1, 1}, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
    EXPECT_NO_THROW(repartition(3.2, methane)) << "3.2 u left";
    expect_refused([&] { repartition(3.3, methane); }, "E571", "md.mdp", 7, "atom 1 (X)");
    expect_refused([&] { repartition(2, bound_atoms({1, 1}, {{0, 1}})); }, "E571", "md.mdp", 7, "1 u left");
    expect_refused([&] { repartition(3, bound_atoms({12, 1, 12}, {{0, 1}, {1, 2}})); }, "E572", "md.mdp", 7, "several");
}

TEST(MassRepartition, is_asked_for_in_the_mdp)
{
    SmallInput input;
    Diagnostics diagnostics;
    const double total = input.load(diagnostics).system.topology.total_mass();
    input.replace("run.mdp", "gen-temp                = 300", "gen-temp = 300\nmass-repartition-factor = 2");
    const Topology topology = input.load(diagnostics).system.topology;
    EXPECT_THAT(masses_of(topology), ElementsAre(DoubleEq(12.011 - 3 * 1.008), 2.016, 2.016, 2.016, DoubleEq(12.011 - 2 * 1.008),
                                                 2.016, 2.016, DoubleEq(15.999 - 1.008), 2.016));
    EXPECT_THAT(masses_of(topology, 1), ElementsAre(DoubleEq(15.999 - 2 * 1.008), 2.016, 2.016));
    EXPECT_NEAR(topology.total_mass(), total, 1e-10);
}

} // namespace
} // namespace parhelion
