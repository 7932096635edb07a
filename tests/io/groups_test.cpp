// SPDX-License-Identifier: Apache-2.0
// Default groups against those of `gmx make_ndx`, name for name and member for member.
#include "io/input/groups.hpp"

#include "input_folder.hpp"
#include "io/input/gro.hpp"
#include "io/input/ndx.hpp"
#include "io/input/residue_types.hpp"

#include <cstdlib>
#include <set>
#include <sstream>

using namespace parhelion;

namespace {

std::vector<std::string> words(const std::string& text)
{
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

// One molecule, in which every residue has every one of the atoms.
System system_of(const std::vector<std::string>& residues, const std::vector<std::string>& atoms)
{
    System system;
    MoleculeType type;
    type.name = "ALL";
    for (const std::string& residue : residues)
    {
        for (const std::string& atom : atoms)
        {
            Atom a;
            a.name = atom;
            a.residue = static_cast<std::int32_t>(type.residues.size());
            type.atoms.push_back(a);
        }
        type.residues.push_back({residue, static_cast<int>(type.residues.size()) + 1});
    }
    system.x.resize(type.atoms.size());
    system.topology.molecule_types = {type};
    system.topology.blocks = {{0, 1, 0}};
    system.topology.finish();
    system.box = {3, 3, 3};
    return system;
}

bool has_gromacs() { return std::system("gmx -version > /dev/null 2>&1") == 0; }

// Every group that make_ndx writes must be ours, with the same atoms.
void expect_groups_of_gromacs(System system)
{
    const InputFolder folder;
    write_gro(folder.path() / "all.gro", system.topology, "all", system.box, system.x, {}, 3);
    const std::string command = "cd " + folder.path().string() + " && echo q | gmx make_ndx -f all.gro -o all.ndx > log 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0);
    const auto groups = read_ndx(folder.path() / "all.ndx", system.topology.atom_count());
    EXPECT_GE(groups.size(), 2U);
    Diagnostics diagnostics;
    Groups ours(system, diagnostics);
    for (const auto& [name, atoms] : groups)
    {
        if (name == "System") { continue; }
        EXPECT_EQ(ours.require(name, {}), name);
        EXPECT_EQ(system.groups[name], atoms) << name;
    }
}

const std::vector<std::string> protein_atoms =
    words("N H H1 H2 H3 HN HT1 CA HA CB HB1 1HB 2HB CG OG SD NZ 1HZ C O O1 O2 OC1 OC2 OXT OT OT1 OT2 MN1 MN2 MCB1 MCE2 MNZ1 MNZ2 "
          "MCH3 MTRP1 1MN1 1CA ca h n D1 DH P OP1 O' HO' C1 OW HW1 MW");

std::size_t members(System& system, const std::string& group)
{
    Diagnostics diagnostics;
    return system.groups.at(Groups(system, diagnostics).require(group, {})).size();
}

} // namespace

TEST(DefaultGroups, are_those_of_gromacs_for_every_residue_it_knows)
{
    const std::filesystem::path table = "/usr/share/gromacs/top/residuetypes.dat";
    if (!has_gromacs() || !std::filesystem::exists(table)) { GTEST_SKIP() << "SKIPPED: GROMACS is not installed"; }
    std::ifstream file(table);
    std::set<std::string> residues;
    for (std::string residue, type; file >> residue >> type;) { residues.insert(residue); }
    EXPECT_GT(residues.size(), 200U);
    for (const std::string& unknown : words("NMA MSE TIP3 TIP4 SPC SOD CLA POT LIG URE EOH")) { residues.insert(unknown); }
    expect_groups_of_gromacs(system_of({residues.begin(), residues.end()}, protein_atoms));
}

TEST(DefaultGroups, are_those_of_gromacs_in_usual_systems)
{
    if (!has_gromacs()) { GTEST_SKIP() << "SKIPPED: GROMACS is not installed"; }
    for (const char* const residues : {"SOL", "SOL NA CL", "ACE ALA NME LIG SOL", "EOH SOL", "DA5 DT DC3 SOL NA", "RA LIG",
                                       "ALA MSE TIP3 SOD CLA", "NA CL", "GLY HOH ZN HEM"})
    {
        SCOPED_TRACE(residues);
        expect_groups_of_gromacs(system_of(words(residues), protein_atoms));
    }
}

TEST(DefaultGroups, leave_what_gromacs_does_not_know_to_other)
{
    System system = system_of(words("ALA NMA MSE TIP3 SPC SOD CLA HOH NA"), words("N CA C O"));
    EXPECT_EQ(members(system, "Protein"), 4U);
    EXPECT_EQ(members(system, "Other"), 6U * 4);
    EXPECT_EQ(members(system, "sol"), 4U) << "HOH";
    EXPECT_EQ(members(system, "Ion"), 4U) << "NA";
    EXPECT_EQ(members(system, "backbone"), 3U);
    EXPECT_EQ(members(system, "SOD"), 4U) << "a residue's own group";
}

TEST(DefaultGroups, follow_a_table_of_the_user)
{
    const InputFolder folder;
    const auto file = folder.write("residuetypes.dat", "; mine\nPOPC Lipid\nTIP3 Water ; here\nTIP3 Ion\n\nALA Protein\n");
    const ResidueTypes table(file);
    EXPECT_EQ(table.type_of("POPC"), "Lipid");
    EXPECT_EQ(table.type_of("TIP3"), "Water") << "the first line counts";
    EXPECT_EQ(table.type_of("SOL"), "Other") << "the file replaces the program's table";
    const auto wrong = folder.write("wrong.dat", "ALA Protein\nGLY\n");
    expect_refused([&] { const ResidueTypes read(wrong); }, "E163", "wrong.dat", 2, "1 word");

    ::setenv("GMXLIB", folder.path().c_str(), 1);
    System system = system_of(words("ALA POPC TIP3 SOL"), words("N CA C O"));
    Diagnostics diagnostics;
    Groups groups(system, diagnostics);
    EXPECT_EQ(system.groups.at(groups.require("Lipid", {})).size(), 4U);
    EXPECT_EQ(system.groups.at(groups.require("non-Water", {})).size(), 12U);
    ::unsetenv("GMXLIB");
    ASSERT_EQ(diagnostics.notes.size(), 1U);
    EXPECT_EQ(diagnostics.notes[0].id, "N132");
}
