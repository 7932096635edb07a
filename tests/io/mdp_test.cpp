// SPDX-License-Identifier: Apache-2.0
#include "io/input/mdp.hpp"

#include "io/input/mdp_table.hpp"
#include "io/input/text.hpp"

#include <fstream>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <sstream>

using namespace parhelion;
using ::testing::HasSubstr;

namespace {

const std::string source = PARHELION_SOURCE_DIR;

MdpInput read(const std::string& text)
{
    Diagnostics diagnostics;
    return read_mdp_text(text, "test.mdp", diagnostics);
}

std::string file_text(const std::string& path)
{
    std::ifstream stream(path);
    EXPECT_TRUE(stream.is_open()) << path;
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

// What the text is refused with; fails the test if it is accepted.
InputError refusal(const std::string& text)
{
    try
    {
        read(text);
    }
    catch (const InputError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted: " << text;
    return InputError("none", {}, "");
}

// All that is wrong with the text, a line for each.
std::string refusals(const std::string& text)
{
    try
    {
        read(text);
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "accepted";
}

struct Bad
{
    const char* text;
    const char* id;
    int line;
    const char* says;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.text; }

} // namespace

TEST(MdpTable, knows_every_option_that_gromacs_2022_writes)
{
    std::istringstream names(file_text(source + "/tests/data/io/gromacs_2022_options.txt"));
    int count = 0;
    for (std::string name; names >> name; ++count) { EXPECT_NE(find_mdp_option(name), nullptr) << name; }
    EXPECT_GT(count, 250);
}

TEST(MdpTable, names_are_unique_in_every_spelling)
{
    std::map<std::string, int> count;
    for (const MdpOption& option : mdp_table()) { EXPECT_EQ(++count[normalised(option.name)], 1) << option.name; }
}

TEST(MdpTable, every_refusal_and_every_harmless_option_gives_a_reason)
{
    for (const MdpOption& option : mdp_table())
    {
        if (option.support != Support::Honoured) { EXPECT_FALSE(option.remark.empty()) << option.name; }
        else { EXPECT_TRUE(option.set && option.print) << option.name; }
    }
}

TEST(MdpTable, defaults_are_those_of_gromacs)
{
    std::istringstream lines(file_text(source + "/tests/data/io/gromacs_2022_defaults.mdp"));
    int compared = 0;
    for (std::string line; std::getline(lines, line);)
    {
        const std::size_t equals = line.find('=');
        const MdpOption* const option = find_mdp_option(trimmed(line.substr(0, equals)));
        ASSERT_NE(option, nullptr) << line;
        const std::string theirs(trimmed(line.substr(equals + 1)));
        // An option without GROMACS default must be given when it matters.
        if (option->support != Support::Honoured || theirs.empty()) { continue; }
        const std::string ours = option->print({});
        MdpInput input;
        option->set(input, {option->name, theirs, {}});
        EXPECT_EQ(option->print(input.parameters), ours) << line;
        ++compared;
    }
    EXPECT_GT(compared, 45);
}

TEST(MdpTable, accepts_every_default_of_gromacs)
{
    std::istringstream lines(file_text(source + "/tests/data/io/gromacs_2022_defaults.mdp"));
    for (std::string line; std::getline(lines, line);) { EXPECT_NO_THROW(read(line + "\n")) << line; }
}

TEST(MdpTable, every_word_of_an_honoured_option_is_accepted_and_printed_back)
{
    for (const MdpOption& option : mdp_table())
    {
        if (option.support != Support::Honoured) { continue; }
        for (const std::string& word : option.words)
        {
            MdpInput input;
            option.set(input, {option.name, word, {}});
            MdpInput again;
            option.set(again, {option.name, option.print(input.parameters), {}});
            EXPECT_EQ(option.print(again.parameters), option.print(input.parameters)) << option.name << " = " << word;
        }
    }
}

TEST(MdpTable, every_refused_word_and_switch_is_named_with_its_line_and_outlook)
{
    for (const MdpOption& option : mdp_table())
    {
        std::vector<std::string> values;
        for (const RefusedWord& word : option.refused_words) { values.push_back(word.word); }
        if (option.support == Support::Refused) { values = {"SOL"}; }
        for (const std::string& value : values)
        {
            // Where the option is used.
            std::string others;
            for (const std::string other : {"coulombtype = PME", "mts = yes", "tcoupl = berendsen", "pcoupl = berendsen"})
            {
                if (!other.starts_with(option.name + " ")) { others += other + "\n"; }
            }
            const InputError error = refusal("\n" + option.name + " = " + value + "\n" + (option.is_unused ? others : ""));
            EXPECT_EQ(error.id(), "E140");
            EXPECT_EQ(error.where().text(), "test.mdp:2");
            EXPECT_THAT(error.message(), HasSubstr(option.name));
            EXPECT_THAT(error.message(), HasSubstr("planned)"));
        }
        for (const std::string& off : option.words)
        {
            if (option.support == Support::Refused) { EXPECT_NO_THROW(read(option.name + " = " + off + "\n")) << option.name; }
        }
    }
}

TEST(MdpReader, what_nothing_uses_may_have_any_value_and_is_told)
{
    const std::string steep = "integrator = steep\n", field = "coulombtype = reaction-field\n";
    for (const auto& [line, others, in_use] :
         {std::array<std::string, 3>{"dt = 0", steep, "integrator = md\n"},
          {"dt = -1", steep, ""},
          {"tcoupl = andersen", steep, ""},
          {"annealing = single", steep, ""},
          {"pcoupl = MTTK", steep, ""},
          {"emstep = 0", "", steep},
          {"emtol = 0", "", steep},
          {"emtol = 0", "", "integrator = cg\n"},
          {"emstep = 0", "", "integrator = l-bfgs\n"},
          {"dt = 0", "integrator = l-bfgs\n", ""},
          {"nstcgsteep = -1", steep, "integrator = cg\n"},
          {"nbfgscorr = 0", "integrator = cg\n", "integrator = l-bfgs\n"},
          {"nstpcouple = -2", "", "pcoupl = berendsen\ncompressibility = 1e-5\nref-p = 1\ntau-p = 1\ntcoupl = berendsen\n"},
          {"tau-p = -1", steep + "pcoupl = berendsen\n", ""},
          {"tau-p = 0", "", "pcoupl = berendsen\n"},
          {"nstpcouple = 0", "", "pcoupl = berendsen\n"},
          {"nsttcouple = 0", "", "tcoupl = berendsen\n"},
          {"fourierspacing = 0", field, "coulombtype = PME\n"},
          {"fourier-nx = -1", field, "coulombtype = PME\n"},
          {"pme-order = 0", field, "coulombtype = PME\n"},
          {"ewald-rtol = 0", field, "coulombtype = PME\n"},
          {"ewald-geometry = 3dc", field, "coulombtype = PME\n"},
          {"epsilon-surface = 5", field, "coulombtype = PME\n"},
          {"mts-level2-forces = pair", "mts = no\n", "mts = yes\n"},
          {"rlist = 0", "", "verlet-buffer-tolerance = -1\n"},
          {"gen-temp = -1", "", "gen-vel = yes\n"},
          {"compressed-x-precision = 0", "", "nstxout-compressed = 10\n"},
          {"rvdw-switch = -1", "", "vdw-modifier = force-switch\n"},
          {"electric-field-x = 0 150 5 1", "", ""}})
    {
        SCOPED_TRACE(line + "; " + others);
        Diagnostics diagnostics;
        const MdpInput input = read_mdp_text(line + "\n" + others, "test.mdp", diagnostics);
        EXPECT_GT(input.parameters.dt, 0);
        const auto told = std::ranges::find(diagnostics.notes, "N170", &Warning::id);
        ASSERT_NE(told, diagnostics.notes.end());
        EXPECT_EQ(told->where.text(), "test.mdp:1");
        EXPECT_THAT(told->message, HasSubstr(line + " is not used "));
        // Whichever comes first.
        Diagnostics again;
        EXPECT_NO_THROW(read_mdp_text(others + line + "\n", "test.mdp", again));
        if (!in_use.empty()) { EXPECT_THAT(refusals(line + "\n" + in_use), HasSubstr(" test.mdp:1  ")); }
    }
}

// A user with three unsupported things sees all three, though another line cannot be read.
TEST(MdpReader, what_is_not_supported_is_told_in_the_first_round)
{
    const std::string told = refusals("implicit-solvent = GBSA\nnwall = 2\nvdwtype = User\nfoo = bar\npcoupl = berendsen\n");
    for (const char* const part :
         {"test.mdp:1  implicit-solvent", "test.mdp:2  nwall", "test.mdp:3  vdwtype", "test.mdp:4  unknown"})
    {
        EXPECT_THAT(told, HasSubstr(part));
    }
}

TEST(MdpReader, old_types_of_van_der_waals_forces_are_the_modifiers_that_gromacs_makes_of_them)
{
    Diagnostics diagnostics;
    const RunParameters p =
        read_mdp_text("vdwtype = shift\nrvdw-switch = 0.8\nvdw-modifier = none\n", "test.mdp", diagnostics).parameters;
    EXPECT_EQ(p.lj_modifier, LjModifier::ForceSwitch);
    EXPECT_EQ(p.lj_switch, 0.8);
    ASSERT_EQ(diagnostics.notes.size(), 1U);
    EXPECT_EQ(diagnostics.notes[0].id, "N173");
    EXPECT_THAT(mdp_text(p), HasSubstr("\nvdwtype                  = Cut-off\n"));
    EXPECT_THAT(mdp_text(p), HasSubstr("\nvdw-modifier             = Force-switch\n"));
    EXPECT_EQ(refusal("vdwtype = shift\nvdw-modifier = force-switch\n").id(), "E107"); // as GROMACS
    EXPECT_EQ(refusal("vdwtype = shift\nrvdw-switch = 1.0\n").id(), "E107");
    const RunParameters on_mesh =
        read("coulombtype = PME\nvdwtype = PME\newald-rtol-lj = 1e-4\nlj-pme-comb-rule = Lorentz-Berthelot\n").parameters;
    EXPECT_TRUE(on_mesh.has_lj_mesh);
    EXPECT_EQ(on_mesh.lj_ewald_tolerance, 1e-4);
    EXPECT_EQ(on_mesh.lj_mesh_rule, LjMeshRule::LorentzBerthelot);
    EXPECT_THAT(mdp_text(on_mesh), HasSubstr("\nvdwtype                  = PME\n"));
    const auto modifier = [](const std::string& text) { return read(text).parameters.lj_modifier; };
    EXPECT_EQ(modifier("vdwtype = switch\nrvdw-switch = 0.8\n"), LjModifier::PotentialSwitch);
    EXPECT_EQ(modifier("vdwtype = Switch\nrvdw-switch = 0.8\nvdw-modifier = Potential-shift\n"), LjModifier::PotentialSwitch);
    EXPECT_EQ(modifier("vdw-modifier = potential-switch\nrvdw-switch = 0.8\n"), LjModifier::PotentialSwitch);
    EXPECT_EQ(refusal("vdwtype = switch\nrvdw-switch = 0.8\nvdw-modifier = potential-switch\n").id(), "E107");
    EXPECT_EQ(refusal("vdwtype = switch\nrvdw-switch = 0.8\nrvdw = 0.7\nrcoulomb = 0.7\n").where().line, 2);
    EXPECT_EQ(refusal("vdwtype = switch\nDispCorr = Ener\n").id(), "E107");
    Diagnostics from_0;
    read_mdp_text("vdwtype = switch\n", "test.mdp", from_0);
    ASSERT_EQ(from_0.warnings.size(), 1U);
    EXPECT_EQ(from_0.warnings[0].id, "W171"); // of which GROMACS warns, too
    for (const char* const type : {"shift", "switch", "encad-shift"})
    {
        EXPECT_THAT(refusal("coulombtype = " + std::string(type) + "\n").message(), HasSubstr("GROMACS refuses it, too"));
    }
}

TEST(MdpTable, harmless_options_take_any_value_and_are_told)
{
    for (const MdpOption& option : mdp_table())
    {
        if (option.support != Support::Harmless) { continue; }
        Diagnostics diagnostics;
        std::string name = option.name;
        for (std::size_t at = 0; (at = name.find('#')) != std::string::npos;) { name[at] = '3'; }
        read_mdp_text(name + " = 17 SOL\n", "test.mdp", diagnostics);
        ASSERT_EQ(diagnostics.notes.size(), 1U) << name;
        EXPECT_EQ(diagnostics.notes[0].id, "N101");
        EXPECT_THAT(diagnostics.notes[0].message, HasSubstr(name));
    }
}

TEST(MdpTable, manual_page_is_up_to_date)
{
    EXPECT_TRUE(file_text(source + "/docs/user/mdp.md") == mdp_manual()) << "build the target mdp_manual";
}

TEST(MdpReader, spelling_of_names_and_words_is_as_free_as_in_gromacs)
{
    const RunParameters p =
        read("; a comment\n\n TC_GRPS = System ; all\nTau_T=0.5\r\nREF-t\t=\t300\nt-coupl=V_RESCALE\nNSTXTCOUT=50").parameters;
    EXPECT_EQ(p.thermostat, Thermostat::VRescale);
    ASSERT_EQ(p.temperature_groups.size(), 1U);
    EXPECT_EQ(p.temperature_groups[0].name, "System");
    EXPECT_EQ(p.temperature_groups[0].tau, 0.5);
    EXPECT_EQ(p.temperature_groups[0].reference, 300);
    EXPECT_EQ(p.compressed_out, 50);
}

TEST(MdpReader, an_option_without_value_keeps_its_default_and_is_told)
{
    Diagnostics diagnostics;
    EXPECT_EQ(read_mdp_text("dt =\ntc-grps = \n", "a.mdp", diagnostics).parameters.dt, 0.001);
    ASSERT_EQ(diagnostics.notes.size(), 1U);
    EXPECT_THAT(diagnostics.notes[0].message, HasSubstr("default used: dt."));
}

TEST(MdpReader, defines_and_include_paths_lose_their_prefix)
{
    const RunParameters p = read("define = -DPOSRES -DFC=1000\ninclude = -I../ff -I/opt/ff\n").parameters;
    EXPECT_EQ(p.defines, (std::vector<std::string>{"POSRES", "FC=1000"}));
    EXPECT_EQ(p.include_paths, (std::vector<std::string>{"../ff", "/opt/ff"}));
}

TEST(MdpReader, reads_the_reference_inputs)
{
    for (const std::string system : {"spce", "etoh", "villin"})
    {
        Diagnostics diagnostics;
        const RunParameters p = read_mdp(source + "/tests/data/refdata/" + system + "/rf/sp.mdp", diagnostics);
        EXPECT_EQ(p.coulomb, CoulombKind::ReactionField) << system;
        EXPECT_EQ(p.lj_cutoff, 0.9) << system;
        EXPECT_EQ(p.buffer_tolerance, -1) << system;
        EXPECT_EQ(p.lincs_order, 8) << system;
        EXPECT_EQ(p.dispersion_correction, DispersionCorrection::EnergyPressure) << system;
        EXPECT_TRUE(diagnostics.warnings.empty()) << diagnostics.warnings[0].text();
    }
}

TEST(MdpReader, printed_values_read_back_to_the_same_values)
{
    const RunParameters p =
        read("integrator=sd\ndt=0.0017\nnsteps=123456789012\ntc-grps=SOL ETH\ntau-t=1 2\nref-t=300 310.5\n"
             "define=-DA=2 -DB\nconstraints=h-bonds\nvdw-modifier=force-switch\nrvdw-switch=0.7\ngen-vel=yes\n")
            .parameters;
    const std::string text = mdp_text(p);
    EXPECT_EQ(mdp_text(read(text).parameters), text);
    EXPECT_THAT(text, HasSubstr("= 123456789012\n"));
    EXPECT_THAT(text, HasSubstr("= 300 310.5\n"));
}

TEST(MdpReader, a_missing_file_is_named)
{
    Diagnostics diagnostics;
    try
    {
        read_mdp("no/such/file.mdp", diagnostics);
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.where().file, "no/such/file.mdp");
    }
}

class MdpRefusal : public ::testing::TestWithParam<Bad>
{
};

TEST_P(MdpRefusal, has_id_line_and_words)
{
    const InputError error = refusal(GetParam().text);
    EXPECT_EQ(error.id(), GetParam().id) << error.what();
    EXPECT_EQ(error.where().file, "test.mdp");
    EXPECT_EQ(error.where().line, GetParam().line) << error.what();
    EXPECT_THAT(error.message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Reader, MdpRefusal,
    ::testing::Values(Bad{"dt = 0.002\nnsteps 100\n", "E101", 2, "no '='"}, Bad{" = 5\n", "E101", 1, "no option before '='"},
                      Bad{"dt=1e-3\n;\nDT=2e-3\n", "E102", 3, "first in line 1"},
                      Bad{"nstxtcout=1\nnstxout-compressed=2\n", "E102", 2, "set twice"},
                      Bad{"dt = fast\n", "E103", 1, "'fast' for 'dt' is not a finite number"},
                      Bad{"dt = 0.002x\n", "E103", 1, "finite number"}, Bad{"dt = 0.002 0.003\n", "E103", 1, "finite number"},
                      Bad{"dt = nan\n", "E103", 1, "finite number"}, Bad{"rvdw = inf\n", "E103", 1, "finite number"},
                      Bad{"rvdw = 1e999\n", "E103", 1, "finite number"}, Bad{"tau-t = 1 nan\n", "E103", 1, "'nan'"},
                      Bad{"nsteps = 1e6\n", "E103", 1, "Write all digits"},
                      Bad{"nsteps = 99999999999999999999\n", "E103", 1, "fits"}, Bad{"nstlist = 5000000000\n", "E103", 1, "fits"},
                      Bad{"define = POSRES\n", "E103", 1, "-DNAME"}, Bad{"include = -I\n", "E103", 1, "-Idirectory"},
                      Bad{"\ntau_tt = 1\n", "E104", 2, "Did you mean 'tau-t'?"},
                      Bad{"intergrator = md\n", "E104", 1, "Did you mean 'integrator'?"},
                      Bad{"xyzzyplugh = 1\n", "E104", 1, "unknown option 'xyzzyplugh'"}, Bad{"dt = 0\n", "E105", 1, "> 0"},
                      Bad{"dt = -0.002\n", "E105", 1, "> 0"}, Bad{"nsteps = -2\n", "E105", 1, ">= 0 or -1"},
                      // The steps of a run without an end are counted, too.
                      Bad{"nsteps = -1\ninit-step = 4611686018427387904\n", "E105", 2, "0 ... 4611686018427387903"},
                      Bad{"nstlist = 0\n", "E105", 1, ">= 1"}, Bad{"verlet-buffer-tolerance = 0\n", "E105", 1, "> 0 or -1"},
                      Bad{"lincs-order = 0\n", "E105", 1, "1 ... 64"}, Bad{"ref-t = -5\n", "E105", 1, ">= 0"},
                      Bad{"integrator = mdd\n", "E106", 1, "Did you mean 'md'?"}, Bad{"gen-vel = maybe\n", "E106", 1, "no, yes"},
                      Bad{"pull = yes\n", "E140", 1, "planned"}, Bad{"annealing = slowly\n", "E106", 1, "single"},
                      Bad{"freezedim = Y Y ?\n", "E106", 1, "neither Y nor N"},
                      Bad{"electric-field-x = 0.5\n", "E103", 1, "E0 omega t0 sigma"}));
