// SPDX-License-Identifier: Apache-2.0
// What is told of an input with several mistakes: all of them, the worst first.
#include "io/input/error_list.hpp"

#include "io/small_input.hpp"

#include <gmock/gmock-matchers.h>

using namespace parhelion;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

void keep(ErrorList& errors, const std::string& id, const std::string& file, int line, const std::string& message = "wrong.")
{
    EXPECT_FALSE(errors.attempt([&] { throw InputError(id, {file, line}, message); }));
}

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    for (std::size_t at = 0, end = 0; end != text.npos; at = end + 1)
    {
        end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
    }
    return lines;
}

// "ID FILE:LINE" of each error that loading reports.
std::vector<std::string> errors_of(const SmallInput& input)
{
    std::vector<std::string> found;
    try
    {
        Diagnostics diagnostics;
        input.load(diagnostics);
    }
    catch (const InputError& error)
    {
        for (const std::string& line : lines_of(error.what()))
        {
            const std::string place = line.substr(0, line.find("  "));
            const std::size_t name = place.rfind('/');
            found.push_back(name == place.npos ? line : place.substr(0, 5) + place.substr(name + 1));
        }
    }
    return found;
}

} // namespace

TEST(ErrorList, goes_on_after_an_error_and_throws_a_single_one_as_it_is)
{
    ErrorList errors;
    EXPECT_TRUE(errors.attempt([] {}));
    EXPECT_TRUE(errors.empty());
    errors.throw_if_any();
    keep(errors, "E103", "a.mdp", 7);
    try
    {
        errors.throw_if_any();
        FAIL();
    }
    catch (const InputErrors&)
    {
        FAIL() << "one error is not several";
    }
    catch (const InputError& error)
    {
        EXPECT_STREQ(error.what(), "E103 a.mdp:7  wrong.");
    }
}

TEST(ErrorList, tells_the_worst_first_and_equally_bad_ones_in_the_order_of_reading)
{
    ErrorList errors;
    keep(errors, "E103", "a.mdp", 1);
    keep(errors, "E140", "a.mdp", 2);
    keep(errors, "E104", "a.mdp", 3);
    keep(errors, "E121", "a.top", 4);
    keep(errors, "E122", "a.top", 5);
    keep(errors, "E111", "a.top", 6);
    keep(errors, "E170", "a.gro", 7);
    EXPECT_THAT(lines_of(errors.text()),
                ElementsAre("E111 a.top:6  wrong.", "E121 a.top:4  wrong.", "E170 a.gro:7  wrong.", "E104 a.mdp:3  wrong.",
                            "E122 a.top:5  wrong.", "E140 a.mdp:2  wrong.", "E103 a.mdp:1  wrong."));
    EXPECT_EQ(errors.worst().id(), "E111");
}

TEST(ErrorList, tells_twenty_at_most_and_how_many_more_there_are)
{
    ErrorList errors;
    for (int line = 1; line <= 25; ++line) { keep(errors, "E103", "a.mdp", line, "wrong " + std::to_string(line)); }
    keep(errors, "E101", "a.mdp", 26);
    const std::vector<std::string> lines = lines_of(errors.text());
    ASSERT_THAT(lines, SizeIs(21));
    EXPECT_EQ(lines.front(), "E101 a.mdp:26  wrong.");
    EXPECT_EQ(lines[19], "E103 a.mdp:19  wrong 19");
    EXPECT_EQ(lines.back(), "and 6 more errors.");
}

TEST(ErrorList, tells_once_what_is_wrong_with_many_lines)
{
    ErrorList errors;
    for (int line = 1; line <= 1000; ++line) { keep(errors, "E122", "a.top", line); }
    keep(errors, "E122", "b.top", 1);
    EXPECT_EQ(errors.text(), "E122 a.top:1  wrong. (999 more lines are so)\nE122 b.top:1  wrong.");
}

TEST(ErrorList, takes_in_the_errors_of_another)
{
    ErrorList inner, outer;
    for (int line = 1; line <= 30; ++line) { keep(inner, "E103", "a.mdp", line, std::to_string(line)); }
    keep(outer, "E140", "a.mdp", 31);
    EXPECT_FALSE(outer.attempt([&] { inner.throw_if_any(); }));
    EXPECT_THAT(outer.text(), testing::StartsWith("E140 a.mdp:31  wrong.\nE103 a.mdp:1  1\n"));
    EXPECT_THAT(outer.text(), EndsWith("and 11 more errors."));
}

TEST(Load, tells_the_mistakes_of_all_files_in_one_go)
{
    SmallInput input;
    input.replace("run.mdp", "dt                      = 0.002", "dt                      = 2 fs");
    input.replace("run.mdp", "nstlist                 = 10", "nstlits                 = 10");
    input.replace("run.mdp", "V-rescale", "V-rescael");
    input.replace("topol.top", " 1 3 1\n 1 4 1", " 1 33 1\n 1 4 1"); // an atom that is not there
    input.replace("topol.top", "   2  HC   1    ETH     HB1", "   2  HX   1    ETH     HB1");
    input.replace("topol.top", "ION 1\nSOL 1", "IOM 1\nSOL 1");
    input.replace("conf.gro", "1.842   0.571", "1.842   0.5x1");
    EXPECT_THAT(errors_of(input), ElementsAre("E170 conf.gro:4", "E104 run.mdp:12", "E106 run.mdp:20", "E122 topol.top:15",
                                              "E132 topol.top:95", "E103 run.mdp:3", "E123 topol.top:26"));
}

TEST(Load, compares_files_only_if_each_was_understood)
{
    SmallInput input;
    input.replace("run.mdp", "tau-t                   = 0.5 1.0", "tau-t                   = 0.5"); // two groups
    input.replace("run.mdp", "rvdw                    = 0.9", "rvdw                    = 0.8");     // not rcoulomb
    input.replace("topol.top", "ETH 2", "ETH 1");
    EXPECT_THAT(errors_of(input), ElementsAre("E107 run.mdp:14", "E107 run.mdp:22", "E171 conf.gro:2"));
    input.replace("run.mdp", "dt                      = 0.002", "dt                      = 2 fs");
    EXPECT_THAT(errors_of(input), ElementsAre("E103 run.mdp:3", "E171 conf.gro:2"));
}

TEST(Load, compares_files_also_where_the_mdp_asks_for_what_is_not_supported)
{
    SmallInput input;
    input.replace("run.mdp", "Reaction-Field", "Ewald");
    input.replace("run.mdp", "ETH rest", "ETH rust");
    input.replace("run.mdp", "comm-grps               = System", "comm-grps               = Protein");
    EXPECT_THAT(errors_of(input), ElementsAre("E150 run.mdp:21", "E140 run.mdp:13", "E151 run.mdp:6"));
}

TEST(Load, misses_every_file_that_is_not_there)
{
    SmallInput input;
    InputFiles files = input.files();
    files.topology += ".no", files.restraint_reference = files.structure += ".no", files.index += ".no";
    Diagnostics diagnostics;
    try
    {
        load_gromacs(files, diagnostics);
        FAIL();
    }
    catch (const InputErrors& errors)
    {
        EXPECT_THAT(errors.what(), AllOf(HasSubstr("topol.top.no"), HasSubstr("conf.gro.no"), HasSubstr("index.ndx.no")));
    }
}

TEST(Load, says_only_that_a_file_is_missing_where_the_rest_of_the_topology_hangs_on_it)
{
    SmallInput input;
    input.replace("topol.top", "\"forcefield.itp\"", "\"forcefeld.itp\"");
    input.replace("topol.top", "\"water.itp\"", "\"woter.itp\"");
    EXPECT_THAT(errors_of(input), ElementsAre("E111 topol.top:6", "E111 topol.top:80"));
}

TEST(Load, an_atom_type_that_is_broken_is_not_called_unknown)
{
    SmallInput input;
    input.replace("forcefield.itp", "12.011  0.0     A      0.35", "-12.011  0.0     A      0.35");
    EXPECT_THAT(errors_of(input), ElementsAre("E125 forcefield.itp:7"));
}

TEST(Load, a_molecule_that_is_broken_breaks_no_other)
{
    SmallInput input;
    input.replace("topol.top", "   3  HC   1    ETH", "   4  HC   1    ETH"); // and so all that follow have the wrong number
    input.replace("topol.top", "[ atoms ]\n 1 IP", "[ atmos ]\n 1 IP");
    input.replace("topol.top", "ION 1\n[", "ION one\n[");
    EXPECT_THAT(errors_of(input), ElementsAre("E121 topol.top:84", "E120 topol.top:85", "E123 topol.top:16"));
}
