// SPDX-License-Identifier: Apache-2.0
#include "io/input/top.hpp"

#include "io/input_folder.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock-more-matchers.h>
#include <random>
#include <sstream>
#include <utility>

using namespace parhelion;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using enum InteractionKind;

namespace {

// A force field of four types with everything the tests look up, and a molecule of six atoms in a chain, without terms.
constexpr std::string_view lennard_jones =
    "[ defaults ]\n1 2 yes 0.5 0.25\n"
    "[ atomtypes ]\nA 12 0.5 A 0.3 0.4\nB B 6 14 0 A 0.5 0.9\nH 1 0 A 0.1 0.2\nV 0 0 D 0 0\nP P 16 0 A 0.2 0.3\n";
constexpr std::string_view chain =
    "[ moleculetype ]\nCHN 3\n[ atoms ]\n1 A 1 ONE A1 1\n2 A 1 ONE A2 1\n3 B 1 ONE B3 1\n4 A 2 TWO A4 1 -0.5 13\n"
    "5 B 2 TWO B5 1\n6 B 2 TWO B6 1\n";
constexpr std::string_view one_molecule = "[ system ]\nname of it\n[ molecules ]\nCHN 1\n";

class TopTest : public testing::Test
{
protected:
    Topology read(const std::string& text, const TopologyOptions& options = {})
    {
        return read_topology(folder_.write("topol.top", text), options, diagnostics_);
    }
    // With these lines in the force field and in the molecule.
    Topology read_with(std::string_view types, std::string_view terms)
    {
        return read(std::string(lennard_jones) + std::string(types) + std::string(chain) + std::string(terms) +
                    std::string(one_molecule));
    }
    InteractionParameters only_term(const Topology& topology, InteractionKind kind)
    {
        const auto& terms = topology.molecule_types.at(0).of(kind);
        EXPECT_THAT(terms, SizeIs(1));
        return terms.empty() ? InteractionParameters{}
                             : topology.parameters_of(kind).at(static_cast<std::size_t>(terms[0].parameters));
    }
    // The last line of `text` is the one that is wrong; `before` and `after` complete the file.
    void expect_error(std::string before, std::string_view line, std::string_view after, std::string_view id,
                      std::string_view part)
    {
        SCOPED_TRACE(std::string(line));
        const auto number =
            static_cast<int>(std::count(before.begin(), before.end(), '\n') + 1 + std::count(line.begin(), line.end(), '\n'));
        expect_refused([&] { read(before + std::string(line) + "\n" + std::string(after)); }, id, "topol.top", number, part);
    }
    void expect_term_error(std::string_view lines, std::string_view id, std::string_view part)
    {
        expect_error(std::string(lennard_jones) + std::string(chain), lines, one_molecule, id, part);
    }
    void expect_type_error(std::string_view lines, std::string_view id, std::string_view part)
    {
        expect_error(std::string(lennard_jones), lines, std::string(chain) + std::string(one_molecule), id, part);
    }

    InputFolder folder_;
    Diagnostics diagnostics_;
};

std::vector<std::vector<std::int32_t>> exclusions_of(const MoleculeType& molecule)
{
    std::vector<std::vector<std::int32_t>> lists;
    for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
    {
        lists.emplace_back(molecule.excluded.begin() + molecule.exclusion_start[a],
                           molecule.excluded.begin() + molecule.exclusion_start[a + 1]);
    }
    return lists;
}

} // namespace

TEST_F(TopTest, atoms_take_mass_and_charge_from_their_type_unless_given)
{
    const Topology topology = read_with("", "");
    const MoleculeType& m = topology.molecule_types.at(0);
    ASSERT_THAT(m.atoms, SizeIs(6));
    EXPECT_EQ(m.atoms[0].mass, 12);
    EXPECT_EQ(m.atoms[0].charge, 0.5);
    EXPECT_EQ(m.atoms[3].mass, 13);
    EXPECT_EQ(m.atoms[3].charge, -0.5);
    EXPECT_EQ(m.atoms[2].mass, 14);
    EXPECT_EQ(m.atoms[3].name, "A4");
    ASSERT_THAT(m.residues, SizeIs(2));
    EXPECT_EQ(m.residues[1].name, "TWO");
    EXPECT_EQ(m.atoms[2].residue, 0);
    EXPECT_EQ(m.atoms[3].residue, 1);
    EXPECT_EQ(topology.name, "name of it");
    EXPECT_EQ(topology.fudge_qq, 0.25);
    EXPECT_THAT(topology.type_names, ElementsAre("A", "B")); // only those that occur
    EXPECT_THAT(diagnostics_.warnings, IsEmpty());
}

TEST_F(TopTest, atom_types_may_have_a_bonded_name_and_an_atomic_number_in_any_combination)
{
    for (const std::string layout :
         {"T 9 -0.5 A 0.3 0.4", "T 7 9 -0.5 A 0.3 0.4", "T name 9 -0.5 A 0.3 0.4", "T name 7 9 -0.5 A 0.3 0.4"})
    {
        const std::string bonded = layout.find("name") == layout.npos ? "T" : "name";
        const Topology topology =
            read("[ defaults ]\n1 1\n[ atomtypes ]\n" + layout + "\n[ bondtypes ]\n" + bonded + " " + bonded +
                 " 1 0.125 7\n[ moleculetype ]\nM 1\n[ atoms ]\n1 T 1 R X 1\n2 T 1 R X 1\n[ bonds ]\n1 2 1\n[ system ]\ns\n[ "
                 "molecules ]\nM 2\n");
        EXPECT_EQ(topology.molecule_types[0].atoms[0].mass, 9) << layout;
        EXPECT_EQ(topology.molecule_types[0].atoms[0].charge, -0.5) << layout;
        EXPECT_EQ(topology.c6[0], 0.3) << layout;
        EXPECT_EQ(topology.c12[0], 0.4) << layout;
        EXPECT_EQ(only_term(topology, HarmonicBond)[0], 0.125) << layout;
    }
}

TEST_F(TopTest, combination_rules_are_those_of_their_numbers)
{
    const auto table = [&](int rule, const std::string& extra) {
        return read("[ defaults ]\n1 " + std::to_string(rule) + "\n[ atomtypes ]\nA 1 0 A 0.3 0.4\nB 1 0 A 0.5 0.9\n" + extra +
                    "[ moleculetype ]\nM 1\n[ atoms ]\n1 A 1 R X 1\n2 B 1 R X 1\n[ system ]\ns\n[ molecules ]\nM 1\n");
    };
    const auto expect_mixed = [](const Topology& t, double c6, double c12) {
        EXPECT_NEAR(t.c6[1], c6, 1e-14 * c6);
        EXPECT_NEAR(t.c12[1], c12, 1e-14 * c12);
        EXPECT_EQ(t.c6[1], t.c6[2]);
        EXPECT_EQ(t.c12[1], t.c12[2]);
    };
    const auto six = [](double s) { return s * s * s * s * s * s; };
    expect_mixed(table(1, ""), std::sqrt(0.3 * 0.5), std::sqrt(0.4 * 0.9));
    expect_mixed(table(2, ""), 4 * 0.6 * six(0.4), 4 * 0.6 * six(0.4) * six(0.4));
    expect_mixed(table(3, ""), 4 * 0.6 * six(std::sqrt(0.15)), 4 * 0.6 * six(0.15));
    expect_mixed(table(1, "[ nonbond_params ]\nB A 1 7 8\n"), 7, 8);
    expect_mixed(table(2, "[ nonbond_params ]\nB A 1 0.5 8\n"), 32 * six(0.5), 32 * six(0.25));
    expect_mixed(table(2, "[ nonbond_params ]\nA B 1 -0.5 8\n"), 0, 32 * six(0.25)); // negative sigma: repulsion alone
    const Topology like = table(2, "");
    EXPECT_DOUBLE_EQ(like.c6[0], 1.6 * six(0.3));
    EXPECT_DOUBLE_EQ(like.c12[3], 3.6 * six(0.5) * six(0.5));
}

TEST_F(TopTest, seldom_bonded_terms_are_read_and_those_that_are_bonds_exclude)
{
    const auto expect = [&](const std::string& lines, InteractionKind kind, const InteractionParameters& parameters) {
        EXPECT_EQ(only_term(read_with("", lines), kind), parameters) << lines;
    };
    expect("[ bonds ]\n1 4 3 0.1 400 20\n", MorseBond, {0.1, 400, 20});
    expect("[ bonds ]\n1 4 4 0.1 400 -2\n", CubicBond, {0.1, 400, -2});
    expect("[ bonds ]\n1 4 7 0.3 900\n", FeneBond, {0.3, 900});
    expect("[ bonds ]\n1 4 10 0.1 0.2 0.3 900\n", BoundedBond, {0.1, 0.2, 0.3, 900});
    expect("[ angles ]\n1 2 3 3 0.1 0.2 900\n", CrossBondBond, {0.1, 0.2, 900});
    expect("[ angles ]\n1 2 3 4 0.1 0.2 0.3 900\n", CrossBondAngle, {0.1, 0.2, 0.3, 900});
    expect("[ angles ]\n1 2 3 6 107 1 2 3 4 5\n", QuarticAngle, {107, 1, 2, 3, 4, 5});
    expect("[ dihedrals ]\n1 2 3 4 10 60 3\n", RestrictedDihedral, {60, 3});
    expect("[ dihedrals ]\n1 2 3 4 11 2 1 2 3 4 5\n", BendingTorsion, {2, 1, 2, 3, 4, 5});
    for (const char* const bond : {"3 0.1 400 20", "4 0.1 400 -2", "7 0.3 900"})
    {
        const MoleculeType type = read_with("", "[ bonds ]\n1 4 " + std::string(bond) + "\n").molecule_types[0];
        EXPECT_TRUE(type.excludes(0, 3)) << bond;
    }
    EXPECT_FALSE(read_with("", "[ bonds ]\n1 4 10 0.1 0.2 0.3 900\n").molecule_types[0].excludes(0, 3));
    expect_term_error("[ bonds ]\n1 4 7 0 900", "E125", "not positive");
    expect_term_error("[ bonds ]\n1 4 10 0.2 0.1 0.3 900", "E125", "fall");
}

TEST_F(TopTest, a_connection_excludes_and_does_nothing_else)
{
    const Topology topology = read_with("", "[ bonds ]\n1 4 5\n");
    const MoleculeType& type = topology.molecule_types[0];
    EXPECT_TRUE(type.excludes(0, 3));
    EXPECT_TRUE(std::ranges::all_of(type.interactions, [](const auto& terms) { return terms.empty(); }));
    EXPECT_THAT(type.constraints, IsEmpty());
    expect_term_error("[ bonds ]\n1 4 5 0.1", "E121", "at most 3");
    expect_type_error("[ bondtypes ]\nA B 5", "E121", "no function type 5"); // there is nothing to look up
}

TEST_F(TopTest, non_bonded_pairs_have_the_charges_and_parameters_of_their_line)
{
    const double sigma6 = std::pow(0.4, 6);
    const Topology topology = read_with("", "[ pairs_nb ]\n1 3 1 0.4 -0.2 0.4 3\n");
    EXPECT_THAT(only_term(topology, NonbondedPair),
                ElementsAre(DoubleEq(12 * sigma6), DoubleEq(12 * sigma6 * sigma6), DoubleEq(-0.08)));
    EXPECT_FALSE(topology.molecule_types[0].excludes(0, 2));
    expect_term_error("[ pairs_nb ]\n1 3 1 0.4 -0.2 0.4", "E121", "takes 4");
    expect_term_error("[ pairs_nb ]\n1 3 1", "E121", "no parameters");
}

TEST_F(TopTest, pairs_take_given_then_tabulated_then_generated_parameters)
{
    const double sigma6 = std::pow(0.4, 6), generated = 0.5 * 0.6; // fudgeLJ scales epsilon
    EXPECT_DOUBLE_EQ(only_term(read_with("", "[ pairs ]\n1 3 1\n"), Pair14)[0], 4 * generated * sigma6);
    EXPECT_DOUBLE_EQ(only_term(read_with("", "[ pairs ]\n1 3 1\n"), Pair14)[1], 4 * generated * sigma6 * sigma6);
    EXPECT_DOUBLE_EQ(only_term(read_with("[ nonbond_params ]\nA B 1 0.4 2\n", "[ pairs ]\n1 3 1\n"), Pair14)[0],
                     4 * 0.5 * 2 * sigma6);
    EXPECT_DOUBLE_EQ(only_term(read_with("[ pairtypes ]\nB A 1 0.4 2\n", "[ pairs ]\n1 3 1\n"), Pair14)[0], 8 * sigma6);
    EXPECT_DOUBLE_EQ(only_term(read_with("[ pairtypes ]\nB A 1 0.4 2\n", "[ pairs ]\n1 3 1 0.4 3\n"), Pair14)[0], 12 * sigma6);
    // Function type 2: a scale and charges, whose product stands for that of the atoms' charges.
    EXPECT_THAT(only_term(read_with("", "[ pairs ]\n1 3 2 0.5 0.4 -0.2 0.4 3\n"), Pair14),
                ElementsAre(DoubleEq(12 * sigma6), DoubleEq(12 * sigma6 * sigma6), DoubleEq(-0.04)));
    expect_term_error("[ pairs ]\n1 3 2 0.5 0.4 -0.2 0.4", "E121", "takes 5");
    expect_term_error("[ pairs ]\n1 3 2", "E121", "no parameters"); // for GROMACS it has no Lennard-Jones interaction then
    const std::string plain = "[ defaults ]\n1 1 no 0.5 1\n[ atomtypes ]\nA 1 0 A 3 4\n";
    const std::string molecule = "[ moleculetype ]\nM 1\n[ atoms ]\n1 A 1 R X 1\n2 A 1 R X 1\n[ pairs ]\n";
    EXPECT_EQ(
        only_term(read(plain + "[ pairtypes ]\nA A 1 5 6\n" + molecule + "1 2 1\n[ system ]\ns\n[ molecules ]\nM 1\n"), Pair14),
        (InteractionParameters{5, 6}));
    expect_error(plain + molecule, "1 2 1", "[ system ]\ns\n[ molecules ]\nM 1\n", "E131", "No default pairs types");
}

TEST_F(TopTest, bonded_parameters_are_found_in_either_direction_and_overridden_on_the_line)
{
    const std::string types = "[ bondtypes ]\nA B 1 0.11 100\nA B 2 0.12 200\n[ angletypes ]\nA A B 1 110 30\nA A B 5 111 31 0.2 "
                              "32\n[ constrainttypes ]\nA B 1 0.13\n";
    EXPECT_EQ(only_term(read_with(types, "[ bonds ]\n3 2 1\n"), HarmonicBond), (InteractionParameters{0.11, 100}));
    EXPECT_EQ(only_term(read_with(types, "[ bonds ]\n2 3 2\n"), G96Bond), (InteractionParameters{0.12, 200}));
    EXPECT_EQ(only_term(read_with(types, "[ bonds ]\n2 3 1 0.5 6\n"), HarmonicBond), (InteractionParameters{0.5, 6}));
    EXPECT_EQ(only_term(read_with(types, "[ bonds ]\n2 3 1 0.5 6 0.5 6\n"), HarmonicBond),
              (InteractionParameters{0.5, 6})); // state B = state A
    EXPECT_EQ(only_term(read_with(types, "[ angles ]\n3 2 1 1\n"), HarmonicAngle), (InteractionParameters{110, 30}));
    EXPECT_EQ(only_term(read_with(types, "[ angles ]\n1 2 3 5\n"), UreyBradley), (InteractionParameters{111, 31, 0.2, 32}));
    EXPECT_EQ(only_term(read_with(types, "[ angles ]\n1 2 3 2 100 40\n"), G96Angle), (InteractionParameters{100, 40}));
    EXPECT_EQ(only_term(read_with(types, "[ position_restraints ]\n4 1 1 2 3\n"), PositionRestraint),
              (InteractionParameters{1, 2, 3}));
    const Topology constrained = read_with(types, "[ constraints ]\n3 2 1\n4 5 2 0.4\n");
    ASSERT_THAT(constrained.molecule_types[0].constraints, SizeIs(2));
    EXPECT_EQ(constrained.molecule_types[0].constraints[0].length, 0.13);
    EXPECT_EQ(constrained.molecule_types[0].constraints[1].length, 0.4);
}

TEST_F(TopTest, a_dihedral_takes_the_first_entry_with_the_fewest_wildcards)
{
    const std::string types =
        "[ dihedraltypes ]\nX X X X 1 0 1 1\nX A B X 1 0 2 1\nA B 1 0 3 1\nX A B A 1 0 4 1\nA A B X 1 0 5 1\nA A B A 2 9 6\n";
    EXPECT_EQ(only_term(read_with(types, "[ dihedrals ]\n1 2 3 4 1\n"), ProperDihedral)[1], 4); // both 4 and 5 match three names
    EXPECT_EQ(only_term(read_with(types, "[ dihedrals ]\n4 3 2 1 1\n"), ProperDihedral)[1], 4);
    EXPECT_EQ(only_term(read_with(types, "[ dihedrals ]\n6 2 3 5 1\n"), ProperDihedral)[1],
              2 + 1); // the short form repeats X A B X
    EXPECT_EQ(only_term(read_with(types, "[ dihedrals ]\n3 5 6 4 1\n"), ProperDihedral)[1], 1);
    EXPECT_EQ(only_term(read_with(types, "[ dihedrals ]\n1 2 3 4 2\n"), HarmonicImproper)[0], 9);
    EXPECT_EQ(only_term(read_with("[ dihedraltypes ]\nA B 2 5 6\n", "[ dihedrals ]\n1 5 4 3 2\n"), HarmonicImproper)[0],
              5); // outer atoms
    EXPECT_EQ(only_term(read_with("[ dihedraltypes ]\nA A A B 3 1 2 3 4 5 6\n", "[ dihedrals ]\n3 4 2 1 3\n"), RyckaertBellemans),
              (InteractionParameters{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(only_term(read_with("[ dihedraltypes ]\nX A A X 4 180 4 2\n", "[ dihedrals ]\n3 4 2 1 4\n"), PeriodicImproper),
              (InteractionParameters{180, 4, 2}));
}

TEST_F(TopTest, a_cmap_takes_the_map_of_its_five_types_in_their_order)
{
    const std::string type = "[ cmaptypes ]\nA A B A B 1 2 2\\\n1 2\\\n3 4\n", back = "[ cmaptypes ]\nB A B A A 1 2 2 5 6 7 8\n";
    EXPECT_EQ(only_term(read_with(type + back, "[ cmap ]\n1 2 3 4 5 1\n"), Cmap), (InteractionParameters{1, 2, 3, 4}));
    EXPECT_EQ(only_term(read_with(type + back, "[ cmap ]\n5 4 3 2 1\n"), Cmap), (InteractionParameters{5, 6, 7, 8}));
    const std::string before = std::string(lennard_jones) + type + std::string(chain) + "[ cmap ]\n";
    expect_error(before, "5 4 3 2 1 1", one_molecule, "E131", "No default cmap types of function type 1 for B-A-B-A-A");
    expect_error(before, "1 2 3 4 4 1", one_molecule, "E123", "occurs twice");
    expect_type_error("[ cmaptypes ]\nA A B A B 1 2 2 1 2 3", "E121", "has 3 values of a map; 2 x 2 are 4");
    expect_type_error("[ cmaptypes ]\nA A B A B 1 2 2 1 2 3 4 5", "E121", "has 5 values of a map");
    expect_type_error("[ cmaptypes ]\nA A B A B 1 2 3 1 2 3 4 5 6", "E121", "map is '2' by '3'");
    expect_type_error("[ cmaptypes ]\nA A B A B 1 1 1 1", "E123", "size of the map");
    expect_type_error("[ cmaptypes ]\nA A B A B 1 2 2 1 2 3 x", "E121", "value of the map");
    expect_type_error("[ cmaptypes ]\nA A B A C 1 2 2 1 2 3 4", "E122", "unknown bonded atom type 'C'");
    expect_type_error("[ cmaptypes ]\nA A B A B 2 2 2 1 2 3 4", "E121", "no function type 2");
}

TEST_F(TopTest, a_map_may_ask_for_residues)
{
    // Atoms 1 to 3 are of residue ONE, the others of TWO.
    const auto chosen = [&](const std::string& types) {
        return only_term(read_with("[ cmaptypes ]\n" + types, "[ cmap ]\n1 2 3 4 5 1\n"), Cmap)[0];
    };
    const std::string any = "A A B A B 1 2 2 1 0 0 0\n", stars = "A-* A-* B-* A-* B-* 1 2 2 2 0 0 0\n",
                      one = "A-* A-ONE B-ONE A-* B-* 1 2 2 3 0 0 0\n", two = "A-* A-TWO B-TWO A-* B-* 1 2 2 4 0 0 0\n";
    EXPECT_EQ(chosen(two + any), 1);
    EXPECT_EQ(chosen(two + stars), 2);
    EXPECT_EQ(chosen(any + two + one), 3);
    EXPECT_EQ(chosen(any + "A-ONE A-ONE B-ONE A-TWO B-TWO 1 2 2 5 0 0 0\n" + one), 5);
    const std::string before = std::string(lennard_jones) + "[ cmaptypes ]\n" + two + std::string(chain) + "[ cmap ]\n";
    expect_error(before, "1 2 3 4 5 1", one_molecule, "E131", "for A-A-B-A-B");
    expect_type_error("[ cmaptypes ]\nC-ONE A B A B 1 2 2 1 2 3 4", "E122", "unknown bonded atom type 'C-ONE'");
}

TEST_F(TopTest, consecutive_lines_of_function_type_nine_are_all_added)
{
    const std::string types = "[ dihedraltypes ]\nA A B A 9 0 1 1\nA A B A 9 0 2 2\nA B A A 9 180 3 3\nX A B X 9 0 7 1\n";
    for (const std::string function : {"9", "1"})
    {
        const Topology topology = read_with(types, "[ dihedrals ]\n1 2 3 4 " + function + "\n");
        EXPECT_THAT(topology.molecule_types[0].of(ProperDihedral), SizeIs(3));
        EXPECT_THAT(
            topology.parameters_of(ProperDihedral),
            ElementsAre(InteractionParameters{0, 1, 1}, InteractionParameters{0, 2, 2}, InteractionParameters{180, 3, 3}));
    }
    EXPECT_THAT(
        read_with("[ dihedraltypes ]\nX A B X 9 0 0 2\n", "[ dihedrals ]\n1 2 3 4 9\n").molecule_types[0].of(ProperDihedral),
        IsEmpty());
    expect_type_error("[ dihedraltypes ]\nA A B A 9 0 1 1\nX A B X 9 0 7 1\nA A B A 9 0 2 2", "E124", "second block");
    expect_type_error("[ dihedraltypes ]\nA A B A 9 0 1 1\nA A B A 9 0 2 2\nA A B A 1 0 5 5", "E124", "replace");
}

TEST_F(TopTest, equal_parameters_are_kept_once)
{
    const Topology topology = read_with("", "[ bonds ]\n1 2 1 0.1 5\n2 3 1 0.1 5\n3 4 1 0.1 6\n");
    EXPECT_THAT(topology.parameters_of(HarmonicBond), SizeIs(2));
    EXPECT_EQ(topology.interaction_count(HarmonicBond), 3);
}

TEST_F(TopTest, exclusions_reach_nrexcl_bonds_far_and_no_further)
{
    const std::string bonds =
        "[ bonds ]\n1 2 1 0.1 1\n2 3 2 0.1 1\n[ constraints ]\n3 4 1 0.1\n4 5 2 0.1\n5 6 1 0.1\n[ exclusions ]\n6 1\n";
    EXPECT_THAT(exclusions_of(read_with("", bonds).molecule_types[0]), // 4-5 is no chemical bond
                ElementsAre(ElementsAre(1, 2, 3, 5), ElementsAre(0, 2, 3), ElementsAre(0, 1, 3), ElementsAre(0, 1, 2),
                            ElementsAre(5), ElementsAre(0, 4)));
}

TEST_F(TopTest, exclusions_of_random_graphs_are_those_of_all_shortest_paths)
{
    std::mt19937 random(3);
    for (int trial = 0; trial < 30; ++trial)
    {
        const int atoms = 2 + static_cast<int>(random() % 12), nrexcl = static_cast<int>(random() % 5);
        std::vector<std::vector<int>> distance(static_cast<std::size_t>(atoms),
                                               std::vector<int>(static_cast<std::size_t>(atoms), 1000));
        std::string text = "[ defaults ]\n1 1\n[ atomtypes ]\nA 1 0 A 1 1\n[ moleculetype ]\nM " + std::to_string(nrexcl) +
                           "\n[ atoms ]\n",
                    bonds = "[ bonds ]\n";
        for (int a = 0; a < atoms; ++a)
        {
            text += std::to_string(a + 1) + " A 1 R X 1\n";
            for (int b = 0; b < a; ++b)
            {
                if (random() % 4 != 0) { continue; }
                bonds += std::to_string(a + 1) + " " + std::to_string(b + 1) + " 1 0.1 1\n";
                distance[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] =
                    distance[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)] = 1;
            }
        }
        for (auto& via : distance)
        {
            const auto k = static_cast<std::size_t>(&via - distance.data());
            for (auto& from : distance)
            {
                for (std::size_t j = 0; j < from.size(); ++j) { from[j] = std::min(from[j], from[k] + via[j]); }
            }
        }
        std::vector<std::vector<std::int32_t>> expected;
        for (std::size_t a = 0; a < distance.size(); ++a)
        {
            expected.emplace_back();
            for (std::size_t b = 0; b < distance.size(); ++b)
            {
                if (a != b && distance[a][b] <= nrexcl) { expected.back().push_back(static_cast<std::int32_t>(b)); }
            }
        }
        EXPECT_EQ(exclusions_of(read(text + bonds + "[ system ]\ns\n[ molecules ]\nM 1\n").molecule_types[0]), expected);
    }
}

TEST_F(TopTest, a_settle_holds_three_atoms_with_two_equal_masses_once)
{
    const Topology topology = read_with("", "[ settles ]\n4 1 0.1 0.16\n");
    const Settle settle = topology.molecule_types[0].settles.at(0);
    EXPECT_EQ(settle.oxygen, 3);
    EXPECT_EQ(settle.hydrogen_b, 5);
    EXPECT_EQ(settle.hh, 0.16);
    EXPECT_THAT(exclusions_of(topology.molecule_types[0])[4], ElementsAre()) << "a settle is no bond, as for grompp";
    expect_term_error("[ settles ]\n1 1 0.1 0.16", "E134", "differ in mass");
    expect_term_error("[ settles ]\n5 1 0.1 0.16", "E123", "two atoms that follow");
    expect_term_error("[ settles ]\n4 1 0.1 0.3", "E125", "triangle");
    expect_term_error("[ settles ]\n4 1 -0.1 0.1", "E125", "triangle");
    expect_term_error("[ settles ]\n4 1 0.1 0.16\n4 1 0.1 0.16", "E134", "another settle");
    expect_term_error("[ constraints ]\n3 4 1 0.1\n[ settles ]\n4 1 0.1 0.16", "E134", "constraint too");
}

// What is not supported stops the run with the name and the line, but only if the system contains it.
TEST_F(TopTest, unsupported_terms_are_refused_by_name_only_where_they_are_used)
{
    const std::pair<std::string, std::string> cases[] = {
        {"[ bonds ]\n1 2 8 1 1", "tabulated; not planned"},
        {"[ angles ]\n1 2 3 9 1 1", "linear"},
        {"[ dihedrals ]\n1 2 3 4 8 1 1", "tabulated"},
        {"[ pairs ]\n1 2 3 1 1", "function type 3 of [ pairs ]"},
        {"[ position_restraints ]\n1 3 1 0.5 1000", "function type 3 of [ position_restraints ]"},
        {"[ cmap ]\n1 2 3 4 5 2", "function type 2 of [ cmap ] is not supported (no such type)"},
        {"[ virtual_sites2 ]\n3 1 2 3 0.5", "function type 3 of [ virtual_sites2 ] is not supported (no such type)"},
        {"[ dummies4 ]\n5 1 2 3 4 1 0.1 0.1 0.1", "function type 1 of [ dummies4 ] is not supported (4fd"},
        {"[ virtual_sitesn ]\n3 4 1 2", "function type 4 of [ virtual_sitesn ]"},
        {"[ dihedral_restraints ]\n1 2 3 4 2 0 0 1",
         "function type 2 of [ dihedral_restraints ] is not supported (no such type)"},
        {"[ angle_restraints ]\n1 2 3 4 2 0 1 1", "function type 2 of [ angle_restraints ]"},
        {"[ polarization ]\n1 2 1 0.001", "polarisation"},
        {"[ pairs_nb ]\n1 2 2 0 0 1 1", "function type 2 of [ pairs_nb ] is not supported (no such type)"},
        {"[ settles ]\n4 2 0.1 0.16", "function type 2 of [ settles ]"},
    };
    const std::string other = "[ moleculetype ]\nOTH 1\n[ atoms ]\n1 A 1 R X 1\n[ system ]\ns\n[ molecules ]\n";
    for (const auto& [lines, part] : cases)
    {
        expect_term_error(lines, "E130", part);
        const Topology topology = read(std::string(lennard_jones) + std::string(chain) + lines + "\n" + other + "CHN 0\nOTH 3\n");
        EXPECT_THAT(topology.molecule_types, SizeIs(1)) << lines;
    }
    expect_term_error("[ moleculetype ]\nV 1\n[ atoms ]\n1 A 1 R X 1\n[ moleculetype ]\nUSED 1\n[ intermolecular_interactions ]",
                      "E130", "intermolecular");
}

constexpr std::string_view with_sites = "[ moleculetype ]\nCHN 3\n[ atoms ]\n1 A 1 R X 1\n2 B 1 R X 1\n3 A 1 R X 1\n4 A 1 R X 1\n"
                                        "5 V 1 R V 1\n6 V 1 R V 1\n7 A 1 R V 1 0 0\n";

TEST_F(TopTest, virtual_sites_are_read_in_an_order_of_construction)
{
    const auto sites_of = [&](std::string_view lines) {
        return read(std::string(lennard_jones) + std::string(with_sites) + std::string(lines) + std::string(one_molecule))
            .molecule_types.at(0)
            .sites;
    };
    const auto expect = [](const VirtualSite& site, SiteKind kind, std::int32_t atom, std::vector<std::int32_t> from,
                           std::vector<double> parameters) {
        EXPECT_EQ(site.kind, kind);
        EXPECT_EQ(site.atom, atom);
        EXPECT_EQ(site.from, from);
        ASSERT_EQ(site.parameters.size(), parameters.size());
        for (std::size_t i = 0; i < parameters.size(); ++i) { EXPECT_DOUBLE_EQ(site.parameters[i], parameters[i]); }
    };
    auto sites = sites_of("[ virtual_sites2 ]\n5 7 6 1 0.25\n7 6 2 2 0.1\n[ dummies3 ]\n6 1 2 3 1 0.2 0.3\n");
    ASSERT_THAT(sites, SizeIs(3));
    expect(sites[0], SiteKind::Linear, 5, {0, 1, 2}, {0.2, 0.3});
    expect(sites[1], SiteKind::FixedDistance2, 6, {5, 1}, {0.1});
    expect(sites[2], SiteKind::Linear, 4, {6, 5}, {0.25});
    sites = sites_of("[ virtual_sites3 ]\n5 1 2 3 2 0.2 0.3\n6 1 2 3 3 60 0.2\n7 1 2 3 4 0.1 0.2 0.3\n");
    ASSERT_THAT(sites, SizeIs(3));
    expect(sites[0], SiteKind::FixedDistance3, 4, {0, 1, 2}, {0.2, 0.3});
    expect(sites[1], SiteKind::FixedAngle3, 5, {0, 1, 2}, {0.1 * (1 + 2.220446049250313e-16), 0.1 * std::sqrt(3.0)});
    expect(sites[2], SiteKind::OutOfPlane3, 6, {0, 1, 2}, {0.1, 0.2, 0.3});
    sites =
        sites_of("[ virtual_sites4 ]\n5 1 2 3 4 2 0.2 0.3 0.4\n[ virtual_sites1 ]\n6 4 1\n[ virtual_sitesn ]\n7 3 1 1 3 2 4 5\n");
    ASSERT_THAT(sites, SizeIs(3));
    expect(sites[0], SiteKind::FixedDistance4, 4, {0, 1, 2, 3}, {0.2, 0.3, 0.4});
    expect(sites[1], SiteKind::Linear, 5, {3}, {});
    expect(sites[2], SiteKind::Mean, 6, {0, 2, 3}, {0.25, 0.625});
    sites = sites_of("[ virtual_sitesn ]\n5 1 4 3 2\n6 2 1 2\n7 2 2 1\n");
    ASSERT_THAT(sites, SizeIs(3));
    expect(sites[0], SiteKind::Mean, 4, {3, 2, 1}, {1.0 / 3, 1.0 / 3});
    expect(sites[1], SiteKind::Mean, 5, {0, 1}, {14.0 / 26});
    expect(sites[2], SiteKind::Mean, 6, {1, 0}, {12.0 / 26});
}

// Of gmx_d, in the nine digits that it prints (tests/data/sites/make_shape.py).
TEST_F(TopTest, parameters_of_virtual_sites_that_lines_leave_out_follow_from_bonds_and_angles)
{
    const std::filesystem::path data = std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/sites";
    const Topology topology = read_topology(data / "shape.top", {}, diagnostics_);
    std::ifstream reference(data / "shape_parameters.txt");
    int sites = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        for (const VirtualSite& site : topology.molecule_types[static_cast<std::size_t>(block.type)].sites)
        {
            std::string text;
            std::getline(reference, text);
            std::istringstream line(text);
            std::int64_t atom = 0;
            line >> atom;
            ASSERT_EQ(atom, block.first_atom + site.atom + 1);
            for (const double parameter : site.parameters)
            {
                double expected = 0;
                line >> expected;
                EXPECT_NEAR(parameter, expected, 6e-9 * std::max(std::abs(expected), 0.1)) << topology.describe(atom - 1);
            }
            ++sites;
        }
    }
    EXPECT_EQ(sites, 14);
}

TEST_F(TopTest, parameters_of_virtual_sites_that_do_not_follow_are_refused)
{
    const auto expect = [&](const std::string& before, std::string_view line, std::string_view id, std::string_view part) {
        const bool has_section = before.ends_with("[ virtual_sites2 ]\n");
        expect_error(std::string(lennard_jones) + std::string(with_sites) + before + (has_section ? "" : "[ virtual_sites3 ]\n"),
                     line, "[ virtual_sites1 ]\n6 1\n7 1\n" + std::string(one_molecule), id, part);
    };
    const std::string bonds = "[ bonds ]\n1 2 1 0.1 1\n1 3 1 0.1 1\n1 5 1 0.1 1\n";
    expect("", "5 1 2 3 2", "E131", "none gives the distance 5-1");
    expect(bonds + "[ angles ]\n5 1 2 1 120 1\n", "5 1 2 3 2", "E131", "none gives the angle 5-1-3");
    expect(bonds + "[ angles ]\n5 1 2 1 100 1\n5 1 3 1 20 1\n2 1 3 1 30 1\n", "5 1 2 3 4", "E125", "no place of the site");
    expect(bonds, "5 1 2 3 1", "E131", "only where two atoms of a type MNH");
    expect(bonds, "5 1 2 3 -2", "E121", "is negative");
    expect(bonds, "5 1 2 3 -3 100 0.1", "E121", "is negative");
    expect(bonds + "[ virtual_sites2 ]\n", "5 1 2 2", "E121", "none follow");
}

TEST_F(TopTest, virtual_sites_that_cannot_be_are_refused)
{
    const auto expect = [&](std::string before, std::string_view line, std::string_view id, std::string_view part) {
        expect_error(std::string(lennard_jones) + std::string(with_sites) + before, line, one_molecule, id, part);
    };
    const std::string two = "[ virtual_sites2 ]\n6 1 2 1 0.5\n7 1 2 1 0.6\n";
    expect(two, "6 1 2 1 0.4", "E135", "made a virtual site twice");
    expect(two, "4 1 2 1 0.4", "E135", "has a mass");
    expect(two, "5 1 1 1 0.4", "E123", "occurs twice");
    expect(two, "5 1 5 1 0.4", "E123", "occurs twice");
    expect(two, "5 1 2 1 0.4 0.4", "E121", "0.4");
    expect("[ virtual_sitesn ]\n", "5 1", "E121", "");
    expect("[ virtual_sitesn ]\n", "5 3 1 0.5 2", "E121", "weight");
    expect("[ virtual_sitesn ]\n", "5 3 1 0.5 2 -0.1", "E125", "weights");
    expect("[ virtual_sitesn ]\n", "5 2 6 7", "E125", "weights");
    // What is missing shows when all is read.
    const auto refused_at = [&](std::string_view lines, int line, std::string_view id, std::string_view part) {
        const std::string text =
            std::string(lennard_jones) + std::string(with_sites) + std::string(lines) + std::string(one_molecule);
        expect_refused([&] { read(text); }, id, "topol.top", line, part);
    };
    const int last_atom = 18; // its line
    refused_at(two, last_atom - 2, "E125", "it is no virtual site");
    refused_at("[ virtual_sites2 ]\n5 1 2 1 0.5\n6 1 2 1 0.6\n", last_atom, "E125", "mass of atom 7 (V) is zero");
    refused_at("[ virtual_sites2 ]\n5 6 2 1 0.5\n6 7 2 1 0.6\n7 5 2 1 0.4\n", last_atom + 2, "E135", "made of itself");
    expect_error(std::string(lennard_jones) + "[ moleculetype ]\nCHN 1\n[ atoms ]\n1 A 1 R X 1\n", "2 V 1 R V 1 0 3",
                 one_molecule, "E135", "has a mass");
}

// Whoever has three unsupported things is told of three, whatever else is wrong.
TEST_F(TopTest, all_that_is_unsupported_is_told_at_once)
{
    const std::string terms = "[ bonds ]\n1 2 9 1 1\n2 3 9 1 1\n3 4 8 0.1 1\n[ virtual_sites2 ]\n3 1 2 3 0.5\n";
    for (const std::string& slip : {std::string(), std::string("1 nonsense 1\n")})
    {
        try
        {
            read_with("", terms + "[ angles ]\n" + slip);
            FAIL() << "accepted";
        }
        catch (const InputError& error)
        {
            const std::string text = error.what();
            EXPECT_THAT(text, HasSubstr("topol.top:19  function type 9 of [ bonds ]")) << text;
            EXPECT_THAT(text, HasSubstr("topol.top:21  function type 8 of [ bonds ]")) << text;
            EXPECT_THAT(text, HasSubstr("topol.top:23  function type 3 of [ virtual_sites2 ]")) << text;
            EXPECT_EQ(text.find("topol.top:20 "), text.npos) << text;
            EXPECT_EQ(text.find("nonsense") != text.npos, !slip.empty()) << text;
        }
    }
}

TEST_F(TopTest, sections_that_act_only_if_asked_for_are_refused_only_then)
{
    const std::string restrained = std::string(lennard_jones) + std::string(chain) +
                                   "[ orientation_restraints ]\n1 2 1 1 1 1 1 1 1\n" + std::string(one_molecule);
    TopologyOptions options;
    EXPECT_NO_THROW(read(restrained, options));
    options.acting_sections = {"distance_restraints"};
    EXPECT_NO_THROW(read(restrained, options));
    options.acting_sections = {"orientation_restraints"};
    expect_refused([&] { read(restrained, options); }, "E130", "topol.top", 19,
                   "orientation restraints, for which the .mdp asks");
    EXPECT_NO_THROW(read(std::string(lennard_jones) + std::string(chain) + std::string(one_molecule), options));
}

TEST_F(TopTest, restraints_have_the_parameters_of_their_lines)
{
    const auto parameters = [&](const std::string& lines, InteractionKind kind) { return only_term(read_with("", lines), kind); };
    EXPECT_EQ(parameters("[ dihedral_restraints ]\n1 2 3 4 1 -120 2.5 300\n", DihedralRestraint),
              (InteractionParameters{-120, 2.5, 300}));
    EXPECT_EQ(parameters("[ dihedral_restraints ]\n4 3 2 1 1 180 0 5 180 0 5\n", DihedralRestraint),
              (InteractionParameters{180, 0, 5})); // state B = state A
    EXPECT_EQ(parameters("[ angle_restraints ]\n1 2 1 3 1 40 100 2\n", AngleRestraint), (InteractionParameters{40, 100, 2}));
    EXPECT_EQ(parameters("[ angle_restraints_z ]\n1 2 1 40 100 -2\n", AngleRestraintZ), (InteractionParameters{40, 100, -2}));
    EXPECT_EQ(parameters("[ position_restraints ]\n1 2 6 -0.5 1000\n", FlatBottomRestraint),
              (InteractionParameters{6, -0.5, 1000}));
}

// As CHARMM-GUI writes them: in the .mdp define = -DDIHRES -DDIHRES_FC=1000.
TEST_F(TopTest, the_force_constant_of_restraints_may_be_a_macro_of_the_mdp)
{
    const std::string text = std::string(lennard_jones) + std::string(chain) +
                             "#ifdef DIHRES\n[ dihedral_restraints ]\n1 2 3 4 1 -120.0 2.5 DIHRES_FC ; a remark\n#endif\n" +
                             std::string(one_molecule);
    EXPECT_EQ(only_term(read(text, {{"DIHRES", "DIHRES_FC=1000.0"}, {}}), DihedralRestraint),
              (InteractionParameters{-120, 2.5, 1000}));
    EXPECT_EQ(read(text).interaction_count(DihedralRestraint), 0);
    expect_refused([&] { read(text, {{"DIHRES"}, {}}); }, "E121", "topol.top", 20, "'DIHRES_FC', not a finite number");
}

TEST_F(TopTest, distance_restraints_act_if_asked_for)
{
    TopologyOptions options;
    options.acting_sections = {"distance_restraints"};
    const auto with = [&](const std::string& lines) {
        return read(std::string(lennard_jones) + std::string(chain) + "[ distance_restraints ]\n" + lines + "\n" +
                        std::string(one_molecule),
                    options);
    };
    const auto refuse = [&](const std::string& lines, const char* id, const char* part) {
        const auto last = static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
        expect_refused([&] { with(lines); }, id, "topol.top", 19 + last, part);
    };
    EXPECT_EQ(only_term(with("1 2 1 0 1 0.1 0.2 0.3 1.5"), DistanceRestraint), (InteractionParameters{0.1, 0.2, 0.3, 1.5}));
    EXPECT_EQ(with("1 2 1 0 1 0.1 0.2 0.3 1\n1 3 1 7 2 0.1 0.2 0.3 1").interaction_count(DistanceRestraint), 2);
    const Topology joint = with("1 2 1 7 1 0.1 0.2 0.3 1\n1 3 1 0 1 0.1 0.2 0.3 1\n4 6 1 0 1 0.1 0.2 0.3 1");
    ASSERT_EQ(joint.interaction_count(DistanceRestraint), 3);
    const auto& pairs = joint.molecule_types[0].of(DistanceRestraint);
    EXPECT_NE(pairs[0].parameters, pairs[1].parameters);
    EXPECT_EQ(pairs[1].parameters, pairs[2].parameters);
    EXPECT_THAT(joint.parameters_of(DistanceRestraint),
                ElementsAre(InteractionParameters{0.1, 0.2, 0.3, 1}, InteractionParameters{0.1, 0.2, 0.3, 1, 0, 1}));
    refuse("1 2 1 0 1 0.1 0.2 0.3 1\n1 3 1 0 1 0.1 0.2 0.4 1", "E125", "pairs of index 0 differ");
    refuse("1 2 1 0 1 0.1 0.2 0.3 1\n1 3 1 0 2 0.1 0.2 0.3 1", "E125", "pairs of index 0 differ");
    refuse("1 2 1 0 1 0.1 0.2 0.3 1\n1 3 1 7 1 0.1 0.2 0.3 1\n1 4 1 0 1 0.1 0.2 0.3 1", "E125", "stands between");
    refuse("1 2 1 0 1 0.1 0.3 0.2 1", "E125", "negative or fall");
    refuse("1 2 1 0 1 -0.1 0.2 0.3 1", "E125", "negative or fall");
    refuse("1 2 1 -1 1 0.1 0.2 0.3 1", "E123", "index");
    refuse("1 2 1 0.5 1 0.1 0.2 0.3 1", "E121", "index");
    refuse("1 2 1 0 3 0.1 0.2 0.3 1", "E123", "type of averaging");
    refuse("1 2 2 0 1 0.1 0.2 0.3 1", "E130", "function type 2 of [ distance_restraints ]");
    refuse("1 2 1 0 1 0.1 0.2 0.3", "E121", "has 5 parameters");
    refuse("1 2 1 0 1 0.1 0.2 0.3 1 0 1 0.1 0.2 0.3 1", "E121", "has 12 parameters"); // they have no state B
    refuse("1 1 1 0 1 0.1 0.2 0.3 1", "E123", "occurs twice");
}

TEST_F(TopTest, restraints_that_make_no_sense_are_refused)
{
    expect_term_error("[ dihedral_restraints ]\n1 2 3 4 1 0 -1 1", "E125", "flat part of the restraint, '-1' degrees");
    expect_term_error("[ dihedral_restraints ]\n1 2 3 1 1 0 1 1", "E123", "occurs twice");
    expect_term_error("[ dihedral_restraints ]\n1 2 3 4", "E121", "no parameters");
    expect_term_error("[ dihedral_restraints ]\n1 2 3 4 1 0 1", "E121", "has 2 parameters");
    expect_term_error("[ angle_restraints ]\n1 2 3 4 1 40 100 1.5", "E125", "multiplicity '1.5'");
    expect_term_error("[ angle_restraints_z ]\n1 2 1 40 100 101", "E125", "multiplicity '101'");
    expect_term_error("[ angle_restraints ]\n1 1 3 4 1 40 100 1", "E123", "occurs twice"); // a vector without direction
    expect_term_error("[ angle_restraints ]\n1 2 4 4 1 40 100 1", "E123", "occurs twice");
    expect_term_error("[ position_restraints ]\n1 2 9 0.5 1000", "E123", "geometry");
    expect_term_error("[ position_restraints ]\n1 2 1.5 0.5 1000", "E121", "geometry");
    expect_term_error("[ position_restraints ]\n1 2 1 0.5 1000 1 0.5 1000", "E121", "has 6 parameters");
}

// V = 1/2 [F1 (1 + cos phi) + F2 (1 - cos 2 phi) + F3 (1 + cos 3 phi) + F4 (1 - cos 4 phi)], evaluated at all angles.
TEST_F(TopTest, fourier_dihedrals_become_the_same_function_of_ryckaert_and_bellemans)
{
    const double f[] = {1.5, -0.75, 2.25, 0.5};
    const std::string numbers = "1.5 -0.75 2.25 0.5";
    for (const auto& [types, terms] :
         {std::pair(std::string(), "[ dihedrals ]\n1 2 3 4 5 " + numbers + "\n"),
          {std::string(), "[ dihedrals ]\n1 2 3 4 5 " + numbers + " " + numbers + "\n"},
          {"[ dihedraltypes ]\nA A B A 3 9 9 9 9 9 9\nA A B A 5 " + numbers + "\n", std::string("[ dihedrals ]\n1 2 3 4 5\n")}})
    {
        const InteractionParameters c = only_term(read_with(types, terms), RyckaertBellemans);
        ASSERT_THAT(c, SizeIs(6));
        for (double phi = -3; phi < 3.2; phi += 0.1)
        {
            const double fourier = 0.5 * (f[0] * (1 + std::cos(phi)) + f[1] * (1 - std::cos(2 * phi)) +
                                          f[2] * (1 + std::cos(3 * phi)) + f[3] * (1 - std::cos(4 * phi)));
            double polynomial = 0;
            for (int n = 5; n >= 0; --n) { polynomial = polynomial * std::cos(phi - M_PI) + c[static_cast<std::size_t>(n)]; }
            EXPECT_NEAR(polynomial, fourier, 1e-14); // some roundings of numbers up to 5
        }
    }
    expect_term_error("[ dihedrals ]\n1 2 3 4 5 1 1 1", "E121", "has 3 parameters; function type 5 takes 4");
    expect_term_error("[ dihedrals ]\n1 2 3 4 5 1 1 1 1 1 1", "E121", "has 6 parameters");
    expect_term_error("[ dihedrals ]\n1 2 3 4 5", "E131", "function type 5");
    EXPECT_THAT(read_with("", "[ dihedrals ]\n1 2 3 4 5 0 0 0 0\n").molecule_types[0].of(RyckaertBellemans), IsEmpty());
}

// Each was tried with gmx grompp 2022.5.
TEST_F(TopTest, a_remark_behind_a_hash_is_not_read_where_gromacs_does_not_read_it)
{
    const auto with = [&](const std::string& remark, const std::string& terms) {
        return "[ defaults ] " + remark + "\n1 2 no 1 1 " + remark + "\n[ atomtypes ]\nA 12 0.5 A 0.3 0.4 " + remark +
               "\n[ bondtypes ]\nA A 1 0.125 7 " + remark + "\n[ nonbond_params ]\nA A 1 0.3 0.5 " + remark +
               "\n[ moleculetype ]\nM 1 " + remark + "\n[ atoms ]\n1 A 1 M A 1 0 " + remark + "\n2 A 1 M A 1 " + remark + "\n" +
               terms + "[ system ]\ntitle # 1\n[ molecules ]\nM 3 " + remark + "\n";
    };
    const std::string bond = "[ bonds ] # all\n1 2 1 ";
    for (const char* const parameters : {"0.125 7 # a remark", "0.125 7 #5 6", "0.125 7# 1", "# 3 4", "0.125 7#"})
    {
        SCOPED_TRACE(parameters);
        const Topology topology = read(with("# a remark", bond + parameters + "\n"));
        EXPECT_THAT(only_term(topology, HarmonicBond), ElementsAre(0.125, 7));
        EXPECT_EQ(topology.atom_count(), 6);
        EXPECT_EQ(topology.name, "title # 1");
        EXPECT_EQ(topology.molecule_types[0].atoms[1].charge, 0.5);
    }
    ASSERT_THAT(diagnostics_.notes, SizeIs(1)); // of all there are
    EXPECT_EQ(diagnostics_.notes[0].id, "N171");
    const std::string before = "[ defaults ]\n1 2\n[ atomtypes ]\nA 12 0.5 A 0.3 0.4\n[ moleculetype ]\nM 1\n[ atoms ]\n";
    const std::string after = "[ system ]\ns\n[ molecules ]\nM 1\n";
    expect_error(before, "1 A 1 M A 1 0 12 # r", after, "E122", "unknown atom type '#'");
    expect_error(before, "1 A 1 # A", after, "E121", "column 6");
    expect_term_error("[ bonds ]\n1 2 1 0.1 # 7", "E121", "has 1 parameters");
    expect_term_error("[ bonds ]\n# 1 2 1 0.1 7", "E112", "unknown preprocessor directive");
    expect_term_error("[ bonds ]\n1 2 1 0.1 7 a remark", "E121", "is 'a', not a finite number");
    EXPECT_EQ(read(before + "1 A 1 #M #A 1\n" + after).molecule_types[0].atoms[0].name, "#A");
}

TEST_F(TopTest, a_state_b_that_nothing_asks_for_is_not_used_and_noted_once)
{
    const auto ids_of_notes = [&] {
        std::vector<std::string> ids;
        for (const Warning& note : std::exchange(diagnostics_.notes, {})) { ids.push_back(note.id); }
        return ids;
    };
    EXPECT_EQ(only_term(read_with("", "[ bonds ]\n1 2 1 0.1 5 0.1 6\n"), HarmonicBond), (InteractionParameters{0.1, 5}));
    EXPECT_THAT(ids_of_notes(), ElementsAre("N023"));
    EXPECT_EQ(
        only_term(read_with("[ bondtypes ]\nA A 1 0.1 5 0.2 5\n", "[ bonds ]\n1 2 1\n[ dihedrals ]\n1 2 3 4 1 0 1 2 0 2 2\n"),
                  HarmonicBond),
        (InteractionParameters{0.1, 5}));
    EXPECT_THAT(ids_of_notes(), ElementsAre("N023"));
    const std::string atoms = std::string(lennard_jones) + "[ moleculetype ]\nCHN 1\n[ atoms ]\n";
    read(atoms + "1 A 1 R X 1 0.5 12 A 0.5 12\n" + std::string(one_molecule));
    EXPECT_THAT(ids_of_notes(), IsEmpty());
    for (const std::string line : {"1 A 1 R X 1 0.5 12 B", "1 A 1 R X 1 0.5 12 A 0.4", "1 A 1 R X 1 0.5 12 A 0.5 13"})
    {
        const Topology topology = read(atoms + line + "\n" + std::string(one_molecule));
        EXPECT_EQ(topology.molecule_types[0].atoms[0].charge, 0.5);
        EXPECT_EQ(topology.molecule_types[0].atoms[0].mass, 12);
        EXPECT_THAT(ids_of_notes(), ElementsAre("N023")) << line;
    }
    expect_error(atoms, "1 A 1 R X 1 0.5 12 AA 0.5 12", one_molecule, "E122", "unknown atom type 'AA'");
    expect_term_error("[ bonds ]\n1 2 1 0.1 5 0.1 x", "E121", "'x'");
}

TEST_F(TopTest, a_function_type_that_is_missing_is_1)
{
    const std::string types = "[ bondtypes ]\nA A 1 0.1 5\n[ angletypes ]\nA A B 1 110 30\n[ dihedraltypes ]\nA A B A 1 0 3 2\n"
                              "[ constrainttypes ]\nB B 1 0.13\n";
    const Topology topology = read_with(types, "[ bonds ]\n1 2\n[ angles ]\n1 2 3\n[ dihedrals ]\n1 2 3 4\n[ pairs ]\n1 4\n"
                                               "[ constraints ]\n5 6\n");
    EXPECT_EQ(only_term(topology, HarmonicBond), (InteractionParameters{0.1, 5}));
    EXPECT_EQ(only_term(topology, HarmonicAngle), (InteractionParameters{110, 30}));
    EXPECT_EQ(only_term(topology, ProperDihedral), (InteractionParameters{0, 3, 2}));
    EXPECT_THAT(topology.molecule_types[0].of(Pair14), SizeIs(1));
    EXPECT_THAT(topology.molecule_types[0].constraints, SizeIs(1));
}

TEST_F(TopTest, defaults_may_be_given_by_name)
{
    const auto rule = [&](const std::string& defaults) {
        return static_cast<int>(read("[ defaults ]\n" + defaults +
                                     "\n[ atomtypes ]\nA 12 0.5 A 0.3 0.4\n[ moleculetype ]\nCHN 1\n"
                                     "[ atoms ]\n1 A 1 R X 1\n" +
                                     std::string(one_molecule))
                                    .combination_rule);
    };
    EXPECT_EQ(rule("LJ Geometric"), 1);
    EXPECT_EQ(rule("lj arithmetic Y 0.5 0.5"), 2);
    EXPECT_EQ(rule("1 GEOMSIGEPS n"), 3);
    expect_error("[ defaults ]\n", "Buckingham 1", "", "E130", "Buckingham");
    expect_error("[ defaults ]\n", "LJ Harmonic", "", "E121", "'Harmonic'");
}

TEST_F(TopTest, restraints_that_an_option_would_turn_on_are_skipped)
{
    for (const std::string lines :
         {"[ distance_restraints ]\n1 2 1 0 1 0.1 0.2 0.3 1\n", "[ orientation_restraints ]\n1 2 1 1 1 1 1 1 1\n"})
    {
        diagnostics_ = {};
        read_with("", lines);
        ASSERT_THAT(diagnostics_.notes, SizeIs(1)) << lines;
        EXPECT_EQ(diagnostics_.notes[0].id, "N020");
    }
}

// As pdb2gmx -vsite writes them: of particle type A.
TEST_F(TopTest, hydrogens_without_a_mass_must_be_virtual_sites)
{
    const std::string atoms = std::string(lennard_jones) + "[ moleculetype ]\nCHN 1\n[ atoms ]\n1 A 1 R X 1\n2 A 1 R Y 1\n";
    EXPECT_THAT(
        read(atoms + "3 H 1 R M 1 0 0\n[ virtual_sites2 ]\n3 1 2 1 0.4\n" + std::string(one_molecule)).molecule_types[0].sites,
        SizeIs(1));
    expect_error(atoms, "3 H 1 R M 1 0 0", one_molecule, "E125", "mass of atom 3 (M) is zero");
}

TEST_F(TopTest, wrong_lines_of_molecules_are_refused)
{
    expect_term_error("[ bonds ]\n1 7 1 0.1 5", "E123", "from 1 to 6");
    expect_term_error("[ bonds ]\n0 1 1 0.1 5", "E123", "from 1 to 6");
    expect_term_error("[ bonds ]\n1 1 1 0.1 5", "E123", "twice");
    expect_term_error("[ bonds ]\n1 x 1 0.1 5", "E121", "'x'");
    expect_term_error("[ bonds ]\n1", "E121", "missing");
    expect_term_error("[ bonds ]\n1 2", "E131", "function type 1");
    expect_term_error("[ bonds ]\n1 2 1 0.1", "E121", "takes 2");
    expect_term_error("[ bonds ]\n1 2 1 0.1 5 0.1", "E121", "takes 2");
    for (const std::string number : {"nan", "inf", "-inf", "1e999", "1,5", "0x1", "k_bond", "1.2.3", "--1", "+-1"})
    {
        expect_term_error("[ bonds ]\n1 2 1 0.1 " + number, "E121", "not a finite number");
    }
    expect_term_error("[ bonds ]\n1 2 1", "E131", "No default bonds types");
    expect_term_error("[ angles ]\n1 2 3 1", "E131", "1 A1 - 2 A2 - 3 B3");
    expect_term_error("[ position_restraints ]\n1 1", "E121", "no parameters");
    expect_term_error("[ dihedrals ]\n1 2 3 4 1 0 1 1.5", "E125", "multiplicity");
    expect_term_error("[ constraints ]\n1 2 1 -0.1", "E125", "not positive");
    expect_term_error("[ exclusions ]\n1 9", "E123", "from 1 to 6");
    expect_term_error("[ bond ]", "E120", "'bonds'");
    expect_term_error("[ bonds", "E120", "brackets");
    expect_term_error("[ bondtypes ]", "E120", "after the first [ moleculetype ]");
    expect_term_error("[ moleculetype ]\nCHN 1", "E124", "defined already");
    expect_term_error("[ moleculetype ]\nNEW 1\n[ bonds ]\n1 2 1", "E120", "before the [ atoms ]");
    expect_term_error("[ moleculetype ]\nNEW -1", "E123", "nrexcl");
    expect_term_error("[ molecules ]", "E120", "[ system ]");
    const std::string atoms = std::string(lennard_jones) + "[ moleculetype ]\nCHN 1\n[ atoms ]\n";
    expect_error(atoms, "2 A 1 R X 1", one_molecule, "E123", "where 1 follows");
    expect_error(atoms, "1 AA 1 R X 1", one_molecule, "E122", "unknown atom type");
    expect_error(atoms, "1 A one R X 1", one_molecule, "E121", "residue number");
    expect_error(atoms, "1 A 1 R X 1 0 0", one_molecule, "E125", "zero");
    expect_error(atoms, "1 A 1 R X 1 0 -1", one_molecule, "E125", "negative");
    expect_error(atoms, "1 A 1 R X 1 nan", one_molecule, "E121", "charge");
    expect_error(atoms, "1 A 1 R X", one_molecule, "E121", "charge group");
    expect_error(atoms, "1 A 1 R X 1 0 12 A 0 12 7", one_molecule, "E121", "at most 11");
}

TEST_F(TopTest, wrong_lines_of_force_fields_are_refused)
{
    expect_type_error("[ bondtypes ]\nA Z 1 0.1 5", "E122", "unknown bonded atom type 'Z'");
    for (const char* line :
         {"[ dihedraltypes ]\nA A B A 91 0 25 3", "[ dihedraltypes ]\nA A B 9 180 -3.5 3", "[ constrainttypes ]\nA A 3 0.1"})
    {
        expect_type_error(line, "E121", "there is no function type");
    }
    // One that there is, though not here, matters to those who use it.
    EXPECT_NO_THROW(read_with("[ dihedraltypes ]\nA A B A 8 0 25 3\n", ""));
    expect_type_error("[ bondtypes ]\nA X 1 0.1 5", "E122", "'X'"); // a wildcard has a meaning in dihedrals alone
    expect_type_error("[ bondtypes ]\nA B 1", "E121", "no parameters");
    expect_type_error("[ bondtypes ]\nA B 1 0.1 x", "E121", "'x'");
    expect_type_error("[ pairtypes ]\nA Q 1 1 1", "E122", "unknown atom type 'Q'");
    expect_type_error("[ nonbond_params ]\nA B 2 1 1 1", "E130", "function type");
    expect_type_error("[ defaults ]\n1 2", "E124", "second line");
    expect_type_error("[ atomtypes ]\nQ -1 0 A 1 1", "E125", "negative");
    expect_type_error("[ atomtypes ]\nQ 1 0 A 1 -1", "E125", "negative");
    expect_type_error("[ atomtypes ]\nQ 1 0 Z 1 1", "E121", "particle type");
    expect_type_error("[ atomtypes ]\nQ 1 0 A 1", "E121", "missing");
    expect_error("", "[ atomtypes ]", one_molecule, "E120", "before [ defaults ]");
    expect_error("[ defaults ]\n", "2 1", "", "E130", "Buckingham");
    expect_error("[ defaults ]\n", "1 4", "", "E123", "comb-rule");
    expect_error("[ defaults ]\n", "1 1 maybe", "", "E121", "'maybe'");
    expect_error("[ defaults ]\n", "1 1 no 1 1 9", "", "E130", "power");
}

TEST_F(TopTest, wrong_counts_of_molecules_are_refused)
{
    const std::string head = std::string(lennard_jones) + std::string(chain) + "[ system ]\ns\n[ molecules ]\n";
    expect_error(head, "CHNN 1", "", "E132", "'CHN'");
    expect_error(head, "CHN -1", "", "E123", "number of molecules");
    expect_error(head, "CHN 1000000000000000000", "", "E123", "number of molecules");
    expect_error(head, "CHN 1999999999", "", "E133", "atoms");
    expect_error(head, "CHN 1.5", "", "E121", "'1.5'");
    expect_error(head, "CHN", "", "E121", "missing");
    expect_refused([&] { read(head); }, "E132", "topol.top", 0, "no molecules");
    expect_refused([&] { read(head + "CHN 0\n"); }, "E132", "topol.top", 0, "no molecules");
    expect_refused([&] { read(""); }, "E132", "topol.top", 0, "no molecules");
}

TEST_F(TopTest, molecules_are_counted_not_copied)
{
    const Topology topology =
        read(std::string(lennard_jones) + std::string(chain) +
             "[ moleculetype ]\nION 1\n[ atoms ]\n1 A 1 ION A 1\n[ system ]\ns\n[ molecules ]\nchn 300000000\nION 7\nCHN 1\n");
    EXPECT_EQ(topology.atom_count(), 1800000013);
    EXPECT_THAT(topology.molecule_types, SizeIs(2));
    ASSERT_THAT(topology.blocks, SizeIs(3));
    EXPECT_EQ(topology.blocks[2].first_atom, 1800000007);
    EXPECT_EQ(topology.blocks[2].type, topology.blocks[0].type);
    ASSERT_THAT(diagnostics_.notes, SizeIs(1)); // the name was found in spite of its case
    EXPECT_EQ(diagnostics_.notes[0].id, "N022");
}

TEST_F(TopTest, definitions_are_told_by_warnings_when_replaced_or_unused)
{
    const auto ids = [&] {
        std::vector<std::string> found;
        for (const Warning& w : std::exchange(diagnostics_.warnings, {})) { found.push_back(w.id); }
        return found;
    };
    EXPECT_EQ(only_term(read_with("[ bondtypes ]\nA A 1 0.1 5\nA A 1 0.2 6\n", "[ bonds ]\n1 2 1\n"), HarmonicBond)[0], 0.2);
    EXPECT_THAT(ids(), ElementsAre("W020"));
    read_with("[ bondtypes ]\nA A 1 0.1 5\nA A 1 0.1 5\n", "");
    EXPECT_THAT(ids(), IsEmpty());
    read_with("[ dihedraltypes ]\nA A A A 9 0 1 1\nA A A A 9 0 2 2\nA A A A 9 0 1 1\n", "");
    EXPECT_THAT(ids(), ElementsAre("W160"));
    read_with("[ dihedraltypes ]\nA A A A 9 0 1 1\nA A A A 9 0 1 2\n", "");
    EXPECT_THAT(ids(), IsEmpty());
    EXPECT_EQ(read_with("[ atomtypes ]\nA 17 0.5 A 0.3 0.4\n", "").molecule_types[0].atoms[0].mass, 17);
    EXPECT_THAT(ids(), ElementsAre("W022"));
    diagnostics_.notes.clear();
    read_with("[ atomtypes ]\nQ 17 0.5 A 0.3 0.4 extra\n", "");
    EXPECT_THAT(ids(), IsEmpty());
    ASSERT_EQ(diagnostics_.notes.size(), 1U);
    EXPECT_EQ(diagnostics_.notes[0].id, "N021");
    read("* a banner\nlost heading\n" + std::string(lennard_jones) + std::string(chain) + std::string(one_molecule));
    EXPECT_THAT(ids(), ElementsAre("W023"));
}

TEST_F(TopTest, parameters_may_be_macros_and_positions_restrained_on_demand)
{
    const std::string text = std::string(lennard_jones) + "#define kb 0.1 5\n#define wrong nan 5\n" + std::string(chain) +
                             "[ bonds ]\n1 2 1 kb\n#ifdef POSRES\n[ position_restraints ]\n1 1 k 0 k\n#endif\n" +
                             std::string(one_molecule);
    EXPECT_EQ(only_term(read(text), HarmonicBond), (InteractionParameters{0.1, 5}));
    EXPECT_EQ(only_term(read(text, {{"POSRES", "k=1000"}, {}}), PositionRestraint), (InteractionParameters{1000, 0, 1000}));
    read(text, {{"POSRE"}, {}});
    ASSERT_THAT(diagnostics_.warnings, SizeIs(1));
    EXPECT_EQ(diagnostics_.warnings[0].id, "W024");
}

// Every force field that is installed loads with its water and its ions, whatever its combination rule and layout.
TEST_F(TopTest, installed_force_fields_load_with_water_and_ions)
{
    const std::filesystem::path installed = "/usr/share/gromacs/top";
    if (!std::filesystem::exists(installed))
    {
        GTEST_SKIP() << "SKIPPED: gromacs-data is not installed, so no force field of it was tried";
    }
    int loaded = 0;
    for (const auto& entry : std::filesystem::directory_iterator(installed))
    {
        if (entry.path().extension() != ".ff") { continue; }
        SCOPED_TRACE(entry.path().filename().string());
        const std::string name = entry.path().filename().string();
        std::string text = "#include \"" + name + "/forcefield.itp\"\n";
        for (const std::string file : {"spc.itp", "ions.itp"}) { text += "#include \"" + name + "/" + file + "\"\n"; }
        Topology topology;
        ASSERT_NO_THROW(topology = read(text + "[ system ]\nsalt water\n[ molecules ]\nSOL 1000\nCL 3\n"));
        EXPECT_EQ(topology.atom_count(), 3003);
        EXPECT_NEAR(topology.total_charge(), -3, 1e-9);
        EXPECT_NEAR(topology.total_mass(), 1000 * 18.0154 + 3 * 35.453, 1);
        EXPECT_EQ(topology.constraint_count(), 3000);
        // SPC in all of them: oxygen's c6 and c12 are published in 1981.
        EXPECT_NEAR(topology.c6[0], 2.617e-3, 3e-6);
        EXPECT_NEAR(topology.c12[0], 2.634e-6, 3e-9);
        ++loaded;
    }
    EXPECT_GE(loaded, 10);
}

// Counts taken from the molecule's chemistry: n atoms in a tree have n - 1 bonds, and so on.
TEST_F(TopTest, ethanol_has_the_terms_its_structure_asks_for)
{
    const Topology topology =
        read_topology(std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/refdata/etoh/topol.top", {}, diagnostics_);
    const MoleculeType& ethanol = topology.molecule_types.at(0);
    EXPECT_EQ(ethanol.atoms.size(), 9u);
    EXPECT_EQ(ethanol.of(HarmonicBond).size(), 8u);
    EXPECT_EQ(ethanol.of(HarmonicAngle).size(), 6u + 6u + 1u); // two sp3 carbons, one ether-like oxygen
    EXPECT_EQ(ethanol.of(RyckaertBellemans).size(), 9u + 3u);
    EXPECT_EQ(ethanol.of(Pair14).size(), 12u);
    EXPECT_NEAR(topology.total_charge(), 0, 1e-9);
    EXPECT_EQ(topology.atom_count(), 3000);
    EXPECT_THAT(diagnostics_.warnings, IsEmpty());
}
