// SPDX-License-Identifier: Apache-2.0
// The wording of errors and warnings, and the suggestion of the word that was meant.
#include "base/error.hpp"

#include <gmock/gmock-matchers.h>

namespace parhelion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SourceLocation, names_file_and_line_or_as_much_as_is_known)
{
    EXPECT_EQ((SourceLocation{"topol.top", 17}.text()), "topol.top:17");
    EXPECT_EQ((SourceLocation{"topol.top", 0}.text()), "topol.top");
    EXPECT_EQ(SourceLocation{}.text(), "command line");
}

TEST(InputError, says_id_place_and_message_in_one_line)
{
    const InputError error("E104", {"npt.mdp", 17}, "unknown option 'tau_tt'. Did you mean 'tau-t'?");
    EXPECT_STREQ(error.what(), "E104 npt.mdp:17  unknown option 'tau_tt'. Did you mean 'tau-t'?");
    EXPECT_EQ(error.id(), "E104");
    EXPECT_EQ(error.where().line, 17);
    EXPECT_EQ(error.message(), "unknown option 'tau_tt'. Did you mean 'tau-t'?");
}

TEST(Diagnostics, keep_warnings_and_notes_apart_and_in_order)
{
    Diagnostics diagnostics;
    diagnostics.warn("W012", {"topol.top", 3}, "first");
    diagnostics.note("N001", {}, "aside");
    diagnostics.warn("W013", {}, "second");
    std::vector<std::string> warnings;
    for (const Warning& warning : diagnostics.warnings) { warnings.push_back(warning.text()); }
    EXPECT_THAT(warnings, ElementsAre("W012 topol.top:3  first", "W013 command line  second"));
    ASSERT_EQ(diagnostics.notes.size(), 1u);
    EXPECT_EQ(diagnostics.notes[0].text(), "N001 command line  aside");
}

TEST(Contract, names_the_broken_condition_and_its_place)
{
    const int atoms = -1;
    try
    {
        PARHELION_EXPECTS(atoms >= 0);
        FAIL() << "a broken contract must throw";
    }
    catch (const ContractError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("atoms >= 0"));
        EXPECT_THAT(error.what(), HasSubstr("error_test.cpp:"));
    }
    EXPECT_NO_THROW(PARHELION_EXPECTS(atoms < 0));
}

const std::vector<std::string_view> keys = {"tau-t", "tau-p", "ref-t", "nstlist", "nstxout", "nstxout-compressed", "dt"};

TEST(NearestWord, finds_the_key_behind_a_slip)
{
    EXPECT_EQ(nearest_word("nstlits", keys), "nstlist");                      // two letters swapped
    EXPECT_EQ(nearest_word("nst-list", keys), "nstlist");                     // one too many
    EXPECT_EQ(nearest_word("nsxout", keys), "nstxout");                       // one missing
    EXPECT_EQ(nearest_word("nstxout-compresed", keys), "nstxout-compressed"); // not the shorter key it begins with
    EXPECT_EQ(nearest_word("NSTLIST", keys), "nstlist");                      // case does not count
    EXPECT_EQ(nearest_word("tau-t", keys), "tau-t");                          // a known word is its own nearest
}

TEST(NearestWord, prefers_the_smaller_distance_and_the_first_of_equals)
{
    EXPECT_EQ(nearest_word("tau-pp", keys), "tau-p"); // tau-t is two away
    EXPECT_EQ(nearest_word("tau-x", keys), "tau-t");  // tau-t and tau-p are both one away
}

TEST(NearestWord, stays_silent_when_nothing_is_near)
{
    EXPECT_EQ(nearest_word("barostat", keys), "");
    EXPECT_EQ(nearest_word("nstxyz", keys), ""); // nstxout is three edits away: half of the letters
    EXPECT_EQ(nearest_word("xyz", keys), "");    // as far from dt as it is long
    EXPECT_EQ(nearest_word("ab", keys), "");     // two of two letters differ
    EXPECT_EQ(nearest_word("dx", keys), "dt");   // one of two letters is a slip
    EXPECT_EQ(nearest_word("nstlist", {}), "");
    EXPECT_EQ(nearest_word("", keys), "");
}

} // namespace
} // namespace parhelion
