// SPDX-License-Identifier: Apache-2.0
#include "io/input/excluded_pairs.hpp"
#include "io/input/load.hpp"

#include "io/input/groups.hpp"
#include "io/input_folder.hpp"
#include "small_input.hpp"

#include <algorithm>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using ::testing::HasSubstr;

namespace {

bool has(const std::vector<Warning>& list, const std::string& id)
{
    return std::any_of(list.begin(), list.end(), [&](const Warning& w) { return w.id == id; });
}

// One change of one file, and what it must lead to.
struct Change
{
    const char* file;
    const char* from;
    const char* to;
    const char* id;
    const char* where; // "run.mdp:5", or "run.mdp" for the file as a whole
    const char* says;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.from << " -> " << change.to; }

} // namespace

TEST(Load, brings_all_files_together)
{
    const SmallInput input;
    Diagnostics diagnostics;
    const LoadedInput loaded = input.load(diagnostics);
    const System& system = loaded.system;
    EXPECT_EQ(system.topology.atom_count(), 40);
    EXPECT_EQ(system.x.size(), 40U);
    EXPECT_EQ(system.v.size(), 40U);
    EXPECT_EQ(system.box.diagonal().y, 2.3);
    EXPECT_EQ(system.title, "small box, t= 0.0");
    // Two ethanols with six X-H bonds each, seven rigid waters.
    EXPECT_EQ(system.topology.constraint_count(), 2 * 6 + 7 * 3);
    // POSRES came from the .mdp.
    EXPECT_EQ(system.topology.interaction_count(InteractionKind::PositionRestraint), 4);
    ASSERT_EQ(loaded.parameters.temperature_groups.size(), 2U);
    EXPECT_EQ(system.groups.at(loaded.parameters.temperature_groups[1].name).size(), 22U);
    EXPECT_TRUE(diagnostics.warnings.empty()) << diagnostics.warnings[0].text();
    EXPECT_EQ(loaded.parameters.temperature_interval, 50);
    EXPECT_EQ(loaded.parameters.pressure_interval, 50);
}

TEST(Load, makes_the_usual_groups_when_there_is_no_index_file)
{
    SmallInput input;
    input.replace("run.mdp", "ETH rest", "non-water sol");
    InputFiles files = input.files();
    files.index.clear();
    Diagnostics diagnostics;
    const LoadedInput loaded = load_gromacs(files, diagnostics);
    const std::vector<TemperatureGroup>& groups = loaded.parameters.temperature_groups;
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].name, "non-Water");
    EXPECT_EQ(groups[1].name, "SOL");
    // Ethanol 0-17, ion 36; water 18-35 and 37-39.
    EXPECT_EQ(loaded.system.groups.at("non-Water").size(), 19U);
    EXPECT_EQ(loaded.system.groups.at("non-Water").back(), 36);
    EXPECT_EQ(loaded.system.groups.at("SOL").size(), 21U);
    EXPECT_EQ(loaded.system.groups.at("SOL").back(), 39);
    EXPECT_EQ(loaded.system.groups.count("Water"), 0U) << "only groups that are asked for are built";

    input.replace("run.mdp", "non-water sol", "other water_and_ions");
    EXPECT_EQ(load_gromacs(files, diagnostics).system.groups.at("Other").size(), 18U) << "ethanol";
}

TEST(Load, atoms_in_no_temperature_group_are_a_group_where_nothing_is_coupled)
{
    SmallInput input;
    input.replace("run.mdp", "ETH rest", "ETH NA");
    input.replace("run.mdp", "V-rescale", "no");
    input.replace("run.mdp", "C-rescale", "no");
    Diagnostics diagnostics;
    const LoadedInput loaded = input.load(diagnostics);
    const std::vector<TemperatureGroup>& groups = loaded.parameters.temperature_groups;
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[2].name, "rest_"); // the index file has a group "rest"
    EXPECT_LT(groups[2].tau, 0);
    EXPECT_EQ(loaded.system.groups.at("rest_").size(), 21U);
    EXPECT_EQ(loaded.system.groups.at("rest").size(), 22U);
}

TEST(Load, the_whole_system_needs_no_list_of_atoms)
{
    SmallInput input;
    input.replace("run.mdp", "ETH rest", "SYSTEM");
    input.replace("run.mdp", "0.5 1.0", "0.5");
    input.replace("run.mdp", "300 300", "300");
    input.replace("run.mdp", "compressed-x-grps       = ETH", "");
    InputFiles files = input.files();
    files.index.clear();
    Diagnostics diagnostics;
    const LoadedInput loaded = load_gromacs(files, diagnostics);
    EXPECT_EQ(loaded.parameters.temperature_groups[0].name, "System");
    EXPECT_TRUE(loaded.system.groups.empty());
}

TEST(Load, takes_restraint_positions_from_the_reference_file)
{
    SmallInput input;
    const std::string structure = input.texts().at("conf.gro");
    std::string moved = structure;
    const std::size_t second_line = moved.find('\n', moved.find('\n') + 1) + 1;
    moved.replace(second_line + 20, 8, "   1.125");
    input.put("reference.gro", moved);
    InputFiles files = input.files();
    files.restraint_reference = input.path("reference.gro");
    Diagnostics diagnostics;
    const LoadedInput loaded = load_gromacs(files, diagnostics);
    ASSERT_EQ(loaded.system.restraint_reference.size(), 40U);
    EXPECT_EQ(loaded.system.restraint_reference[0].x, 1.125);
    EXPECT_EQ(loaded.system.restraint_reference[1], loaded.system.x[1]);
    EXPECT_FALSE(has(diagnostics.notes, "N120"));
}

TEST(Load, generated_velocities_replace_those_of_the_file)
{
    SmallInput input;
    input.replace("run.mdp", "gen-vel                 = no", "gen-vel = yes");
    Diagnostics diagnostics;
    EXPECT_TRUE(input.load(diagnostics).system.v.empty());
    EXPECT_TRUE(has(diagnostics.notes, "N123"));
}

TEST(Load, atoms_without_velocities_start_at_rest_with_a_warning)
{
    SmallInput input;
    std::string text = input.texts().at("conf.gro"), cut;
    for (std::size_t at = 0; at < text.size();)
    {
        const std::size_t end = text.find('\n', at);
        cut += text.substr(at, std::min<std::size_t>(end - at, 44)) + "\n";
        at = end + 1;
    }
    input.put("conf.gro", cut);
    Diagnostics diagnostics;
    const LoadedInput loaded = input.load(diagnostics);
    ASSERT_EQ(loaded.system.v.size(), 40U);
    EXPECT_EQ(loaded.system.v[7], Vec3<double>{});
    EXPECT_TRUE(has(diagnostics.notes, "N133")) << "most published files have none";
    EXPECT_TRUE(diagnostics.warnings.empty());
}

TEST(Load, reads_the_reference_systems)
{
    const std::string refdata = std::string(PARHELION_SOURCE_DIR) + "/tests/data/refdata/";
    const std::map<std::string, std::int64_t> atoms = {{"spce", 3000}, {"etoh", 3000}, {"villin", 8180}};
    for (const auto& [name, count] : atoms)
    {
        Diagnostics diagnostics;
        const LoadedInput loaded =
            load_gromacs({refdata + name + "/rf/sp.mdp", refdata + name + "/conf.gro", refdata + name + "/topol.top", {}, {}, {}},
                         diagnostics);
        EXPECT_EQ(loaded.system.topology.atom_count(), count);
        EXPECT_EQ(loaded.system.v.size(), static_cast<std::size_t>(count));
        EXPECT_TRUE(diagnostics.warnings.empty()) << name << ": " << diagnostics.warnings[0].text();
    }
}

// Options that would be refused are taken where the topology has nothing that they act on, and only there.
TEST(Load, restraints_and_free_energy_are_refused_only_where_there_are_any)
{
    SmallInput input;
    input.replace("run.mdp", "free-energy             = no", "free-energy = yes\norire = yes");
    Diagnostics diagnostics;
    EXPECT_NO_THROW(input.load(diagnostics));
    const auto refused = [&](const char* id, const std::string& where, const char* says) {
        Diagnostics again;
        expect_refused([&] { input.load(again); }, id, where.substr(0, where.find(':')),
                       std::stoi(where.substr(where.find(':') + 1)), says);
    };
    const std::string topology = input.texts().at("topol.top");
    input.replace("topol.top", " 5 6 1\n", " 5 6 1\n[ orientation_restraints ]\n1 2 1 1 1 1 1 1 1\n[ bonds ]\n");
    const auto line =
        std::count(topology.begin(), topology.begin() + static_cast<std::ptrdiff_t>(topology.find(" 5 6 1\n")), '\n');
    refused("E130", "topol.top:" + std::to_string(line + 3), "orire");
    input.put("topol.top", topology);
    input.replace("topol.top", " 5 6 1\n", " 5 6 1 0.109 280000 0.110 280000\n");
    refused("E140", "run.mdp:33", "values of a state B, first at");
    input.put("topol.top", topology);
    input.replace("run.mdp", "orire = yes", "couple-moltype = ETH");
    refused("E140", "run.mdp:33", "couple-moltype names a molecule");
}

TEST(Load, distance_restraints_act_with_disre_and_averages_of_them_are_refused_only_where_there_are_any)
{
    constexpr InteractionKind kind = InteractionKind::DistanceRestraint;
    const auto with = [](SmallInput& input, const std::string& options) {
        input.replace("run.mdp", "free-energy             = no", options);
    };
    for (const bool has_any : {false, true})
    {
        for (const std::string options : {"disre = no\ndisre-tau = -1", "disre = simple\ndisre-fc = 500", "disre = ensemble",
                                          "disre = simple\ndisre-tau = 10"})
        {
            SCOPED_TRACE(options + (has_any ? " with" : " without"));
            SmallInput input;
            with(input, options);
            if (has_any)
            {
                input.replace("topol.top", " 5 6 1\n", " 5 6 1\n[ distance_restraints ]\n1 2 1 0 1 .1 .2 .3 1\n[ bonds ]\n");
            }
            Diagnostics diagnostics;
            const bool averages = options.find("ensemble") != options.npos || options.find("= 10") != options.npos;
            if (has_any && averages)
            {
                expect_refused([&] { input.load(diagnostics); }, "E140", "run.mdp", options.find("tau") != options.npos ? 34 : 33,
                               "averaged over");
                continue;
            }
            const LoadedInput loaded = input.load(diagnostics);
            const bool acts = has_any && loaded.parameters.distance_restraints;
            EXPECT_EQ(loaded.system.topology.interaction_count(kind) > 0, acts);
            const bool is_idle = std::ranges::any_of(diagnostics.notes, [](const Warning& note) {
                return note.id == "N170" && note.text().find("nothing to act on") != std::string::npos;
            });
            EXPECT_EQ(is_idle, !acts && loaded.parameters.distance_restraints);
            if (acts) { EXPECT_EQ(loaded.parameters.distance_restraint_k, 500); }
        }
    }
}

// Each file has something that is not supported, and is told of in the first round, beside a slip.
TEST(Load, what_is_not_supported_is_told_of_all_files_at_once)
{
    SmallInput input;
    input.replace("run.mdp", "free-energy             = no", "free-energy = yes\nfoo = 1\nimplicit-solvent = GBSA");
    input.replace("topol.top", " 5 6 1\n",
                  " 5 6 1 0.109 280000 0.110 280000\n 5 6 9 1 1\n[ virtual_sites2 ]\n3 1 2 3 0.5\n[ bonds ]\n");
    input.replace("conf.gro", "   2.20000   2.30000   2.40000", "2.2 2.3 2.4 0 0 1.2 0 0 0");
    Diagnostics diagnostics;
    try
    {
        input.load(diagnostics);
        FAIL() << "accepted";
    }
    catch (const InputError& error)
    {
        for (const char* const part : {"unknown option 'foo'", "implicit-solvent = GBSA", "free-energy = yes",
                                       "function type 9 of [ bonds ]", "[ virtual_sites2 ]", "leans"})
        {
            EXPECT_THAT(error.what(), HasSubstr(part));
        }
    }
}

TEST(ExcludedPairs, may_leave_the_cut_off_unless_short_bonds_hold_them)
{
    Topology topology;
    topology.type_names = {"A"};
    topology.c6 = topology.c12 = {0};
    MoleculeType chain;
    chain.name = "CHAIN";
    chain.atoms.assign(4, {"A", 0, 0, 12.0, 0.1});
    chain.residues = {{"RES", 1}};
    for (const std::int32_t a : {0, 1, 2}) { chain.constraints.push_back({a, a + 1, 0.2}); }
    chain.exclusion_start = {0, 1, 1, 1, 2};
    chain.excluded = {3, 0};
    MoleculeType two = chain; // of two parts
    two.constraints.erase(two.constraints.begin() + 1);
    topology.molecule_types = {chain, two};
    topology.blocks = {{0, 1, 0}, {1, 1, 0}};
    topology.finish();
    EXPECT_EQ(types_with_loose_exclusions(topology, 1.2 * 0.6 + 1e-9), (std::vector<bool>{false, true}));
    EXPECT_EQ(types_with_loose_exclusions(topology, 1.2 * 0.6 - 1e-9), (std::vector<bool>{true, true}));

    std::vector<Vec3<double>> x(8);
    x[3] = {0, 0.9, 0}, x[4] = {1, 0, 0}, x[7] = {1, 0, 2.6};
    const ExcludedPair longest = longest_excluded_pair(topology, x, {3, 3, 3});
    EXPECT_EQ(longest.a, 0);
    EXPECT_EQ(longest.b, 3);
    EXPECT_NEAR(longest.distance, 0.9, 1e-12);
    EXPECT_NEAR(longest_excluded_pair(topology, x, {3, 3, 3}, {false, true}).distance, 0.4, 1e-12);
}

class LoadRefusal : public ::testing::TestWithParam<Change>
{
};

TEST_P(LoadRefusal, has_id_place_and_words)
{
    const Change& change = GetParam();
    SmallInput input;
    input.replace(change.file, change.from, change.to);
    Diagnostics diagnostics;
    try
    {
        input.load(diagnostics);
        FAIL() << "accepted";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), change.id) << error.what();
        EXPECT_EQ(error.where().text(), input.path(change.where)) << error.what();
        EXPECT_THAT(error.message(), HasSubstr(change.says));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Load, LoadRefusal,
    ::testing::Values(
        Change{"run.mdp", "V-rescale", "V-rescale\nenergygrps = SOL LIG", "E150", "run.mdp:21", "no group 'LIG'"},
        Change{"run.mdp", "V-rescale", "V-rescale\nconstraint-algorithm = shake", "E140", "run.mdp:21", "there are constraints"},
        Change{"topol.top", " 5 6 1\n", " 5 6 1 -0.109 280000\n", "E125", "run.mdp:31", "atoms 5 (CA) and 6 (HA1)"},
        Change{"run.mdp", "ETH rest", "ETH rst", "E150", "run.mdp:21", "Did you mean 'rest'?"},
        Change{"run.mdp", "compressed-x-grps       = ETH", "compressed-x-grps = LIG-9/q", "E150", "run.mdp:8",
               "no group 'LIG-9/q'"},
        Change{"run.mdp", "ETH rest", "ETH Ethanol", "E151", "run.mdp:21", "has no atoms"},
        Change{"run.mdp", "ETH rest", "ETH NA", "E153", "run.mdp:21", "21 atoms are in none of the temperature groups"},
        Change{"run.mdp", "ETH rest", "System rest", "E154", "run.mdp:21", "in more than one group of tc-grps, System and rest."},
        Change{"run.mdp", "V-rescale", "V-rescale\nenergygrps = SOL SOL", "E154", "run.mdp:21", "energygrps names SOL twice."},
        Change{"run.mdp", "V-rescale", "V-rescale\nenergygrps = SOL ETH non-water", "E154", "run.mdp:21",
               "in more than one group of energygrps, ETH and non-Water."},
        Change{"run.mdp", "compressed-x-grps       = ETH", "compressed-x-grps = ETH non-water", "E154", "run.mdp:8", "atom 1 CB"},
        Change{"topol.top", " 5 6 1\n", " 5 6 1\n 6 5 1\n", "E157", "run.mdp:31",
               "in molecule type ETH the distance of atoms 5 (CA) and 6 (HA1) is constrained twice"},
        Change{"topol.top", " 5 6 1\n", " 5 6 1 0.109 280000\n 6 7 1 0.218 280000\n", "E158", "run.mdp:31",
               "in molecule type ETH constraints depend on others, as the third of three atoms on a line"},
        Change{"run.mdp", "integrator              = md", "integrator = l-bfgs", "E270", "run.mdp:2", "rigid water"},
        Change{"topol.top", " 8 9 1\n", " 8 9 1\n 6 2 1 0.2 1000\n\n[ settles ]\n 5 1 0.109 0.17\n", "E134", "run.mdp:31",
               "atom 6 of molecule type ETH is held by a settle and"},
        Change{"run.mdp", "Reaction-Field", "PME\nfourierspacing = 1e-9", "E542", "run.mdp:14",
               "asks for 2.2e+09 grid points of PME along x, and 4096 are the most"},
        Change{"run.mdp", "Reaction-Field", "PME\nfourier-nx = 4096\nfourier-ny = 4096\nfourier-nz = 4096", "E542", "run.mdp:14",
               "6.872e+10 grid points"},
        Change{"conf.gro", "   2.20000   2.30000   2.40000", "   2.20000   1.79000   2.40000", "E152", "run.mdp:18", "1.79 nm"},
        // A dodecahedron of this image distance.
        Change{"conf.gro", "   2.20000   2.30000   2.40000", "1.79 1.79 1.26572 0 0 0 0 0.895 0.895", "E152", "run.mdp:18",
               "1.79 nm"}));

// GROMACS measures edges, and so takes dodecahedra whose faces are nearer than twice the cut-off of 0.9 nm.
TEST(Load, takes_boxes_lower_than_twice_the_cutoff)
{
    SmallInput input;
    input.replace("conf.gro", "   2.20000   2.30000   2.40000", "1.81 1.81 1.27986 0 0 0 0 0.905 0.905");
    Diagnostics diagnostics;
    EXPECT_TRUE(input.load(diagnostics).system.box.is_low(0.9));
}

// Two atoms that are held at 0.1 nm; continuation = yes.
Diagnostics remarks_on_a_continued_start(const std::string& distance)
{
    const InputFolder folder;
    folder.write("conf.gro", "pair\n2\n    1MOL      A    1   1.000   1.000   1.000\n    1MOL      B    2   " + distance +
                                 "   1.000   1.000\n2.6 2.6 2.6\n");
    folder.write("topol.top", "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nA 6 12 0 A 0.3 0.1\n[ moleculetype ]\nMOL 1\n[ atoms ]\n"
                              "1 A 1 MOL A 1 0 12\n2 A 1 MOL B 2 0 12\n[ constraints ]\n1 2 1 0.1\n[ system ]\npair\n"
                              "[ molecules ]\nMOL 1\n");
    folder.write("run.mdp", "integrator = md\nrvdw = 0.9\nrcoulomb = 0.9\ncontinuation = yes\ncomm-mode = none\n");
    InputFiles files;
    files.mdp = folder.path() / "run.mdp", files.structure = folder.path() / "conf.gro";
    files.topology = folder.path() / "topol.top";
    Diagnostics diagnostics;
    load_gromacs(files, diagnostics);
    return diagnostics;
}

TEST(Load, a_continued_start_is_judged_by_what_explains_that_it_breaks_constraints)
{
    for (const char* const rounding : {"1.100", "1.101", "1.099"})
    {
        const Diagnostics none = remarks_on_a_continued_start(rounding);
        EXPECT_FALSE(has(none.notes, "N194") || has(none.warnings, "W126")) << rounding;
    }
    for (const char* const vibration : {"1.104", "1.081", "1.119"})
    {
        const Diagnostics note = remarks_on_a_continued_start(vibration);
        EXPECT_TRUE(has(note.notes, "N194") && !has(note.warnings, "W126")) << vibration;
    }
    for (const char* const nothing : {"1.079", "1.121", "1.300"})
    {
        const Diagnostics warning = remarks_on_a_continued_start(nothing);
        EXPECT_TRUE(!has(warning.notes, "N194") && has(warning.warnings, "W126")) << nothing;
    }
}

class LoadRemark : public ::testing::TestWithParam<Change>
{
};

TEST_P(LoadRemark, has_id_place_and_words)
{
    const Change& change = GetParam();
    SmallInput input;
    input.replace(change.file, change.from, change.to);
    Diagnostics diagnostics;
    input.load(diagnostics);
    std::vector<Warning> all = diagnostics.warnings;
    all.insert(all.end(), diagnostics.notes.begin(), diagnostics.notes.end());
    const auto found = std::find_if(all.begin(), all.end(), [&](const Warning& w) { return w.id == change.id; });
    ASSERT_NE(found, all.end());
    EXPECT_EQ(found->where.text(), input.path(change.where));
    EXPECT_THAT(found->message, HasSubstr(change.says));
}

INSTANTIATE_TEST_SUITE_P(
    Load, LoadRemark,
    ::testing::Values(
        Change{"run.mdp", "V-rescale", "V-rescale\nenergygrps = SOL ETH", "W170", "run.mdp:21",
               "energygrps = SOL ETH: energies between groups are not computed (planned), so that Coul-SR, LJ-SR, Coul-14 and "
               "LJ-14 of SOL-SOL, SOL-ETH, SOL-rest, ETH-ETH, ETH-rest, rest-rest will be missing"},
        Change{"run.mdp", "V-rescale", "V-rescale\nenergygrps = ETH", "W170", "run.mdp:21", "of ETH-ETH, ETH-rest, rest-rest"},
        Change{"run.mdp", "V-rescale", "V-rescale\ndisre = simple", "N170", "run.mdp:21", "disre has nothing to act on"},
        Change{"run.mdp", "V-rescale", "V-rescale\norire = yes", "N170", "run.mdp:21", "orire has nothing to act on"},
        Change{"run.mdp", "free-energy             = no", "free-energy = yes", "N170", "run.mdp:33", "nothing to act on"},
        Change{"conf.gro", "   2.20000   2.30000   2.40000", "   2.20000   2.30000   2.40000 ; box", "N172", "conf.gro:43",
               "behind the columns"},
        Change{"run.mdp", "ref-p                   = 1", "ref-p = 1 1 1", "N129", "run.mdp:27", "first value of ref-p, 1"},
        Change{"run.mdp", "constraints             = h-bonds", "constraint-algorithm = shake", "N127", "run.mdp:31", "nothing"},
        Change{"run.mdp", "-DPOSRES -DFC", "-DPOSRE -DFC", "W024", "run.mdp:5", "-DPOSRE is not used"},
        Change{"run.mdp", "free-energy             = no", "free-energy = no\ncouple-moltype = ETH", "N101", "run.mdp",
               "couple-moltype"},
        Change{"run.mdp", "refcoord-scaling        = com", "refcoord-scaling = no", "W120", "run.mdp:28", "falsify the pressure"},
        Change{"topol.top", "1.0 22.99", "0.5 22.99", "W121", "run.mdp", "e, not a whole number"},
        Change{"topol.top", "ION 1\nSOL", "ION 1\nSOL", "N121", "run.mdp", "total charge is 1 e"},
        Change{"run.mdp", "dt                      = 0.002", "dt = 0.008", "W122", "run.mdp:3", "less than 5 time steps"},
        Change{"run.mdp", "dt                      = 0.002", "dt = 0.004", "N122", "run.mdp:3",
               "bond CA-O of molecule ETH"}, // G96
        Change{"run.mdp", "dt                      = 0.002", "dt = 0.002", "N125", "run.mdp:6", "restraints"},
        Change{"run.mdp", "constraints             = h-bonds", "constraints = none", "W122", "run.mdp:3", "period of 0.00"},
        Change{"run.mdp", "Reaction-Field", "Cut-off", "N193", "run.mdp:13", "plain cut-off"},
        Change{"run.mdp", "Reaction-Field", "Cut-off\ncoulomb-modifier = none", "W125", "run.mdp:13", "jumps there"},
        Change{"run.mdp", "Reaction-Field", "PME", "W128", "run.mdp:14", "exclude each other at"},
        Change{"run.mdp", "Reaction-Field", "PME\newald-rtol = 1e-8", "N255", "run.mdp:14",
               "ewald-rtol = 1e-08 makes forces about 3"},
        Change{"run.mdp", "gen-vel                 = no\n", "continuation = yes\n", "W126", "run.mdp:29", "breaks constraints"}));
