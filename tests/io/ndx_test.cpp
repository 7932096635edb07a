// SPDX-License-Identifier: Apache-2.0
#include "io/input/ndx.hpp"

#include "io/input_folder.hpp"

#include <gmock/gmock-more-matchers.h>

using namespace parhelion;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Ndx, groups_are_sorted_sets_of_atoms_from_zero)
{
    const InputFolder folder;
    const auto groups =
        read_ndx(folder.write("index.ndx", "; made by hand\r\n[ Two Words ]\r\n 3 1\n2 3 ; again\n\n[none]\n[ Last ]\n10"), 10);
    ASSERT_EQ(groups.size(), 3u);
    EXPECT_THAT(groups.at("Two Words"), ElementsAre(0, 1, 2));
    EXPECT_THAT(groups.at("none"), IsEmpty());
    EXPECT_THAT(groups.at("Last"), ElementsAre(9));
}

TEST(Ndx, may_begin_with_a_byte_order_mark)
{
    const InputFolder folder;
    EXPECT_THAT(read_ndx(folder.write("index.ndx", "\xEF\xBB\xBF[ A ]\n1\n"), 1).at("A"), ElementsAre(0));
}

TEST(Ndx, a_group_may_be_repeated_but_not_changed)
{
    const InputFolder folder;
    EXPECT_EQ(read_ndx(folder.write("a.ndx", "[ A ]\n1 2\n[ A ]\n2 1\n"), 3).size(), 1u);
    expect_refused([&] { read_ndx(folder.write("a.ndx", "[ A ]\n1 2\n[ B ]\n1\n[ A ]\n1 3\n"), 3); }, "E162", "a.ndx", 5, "'A'");
}

TEST(Ndx, broken_files_are_refused_at_their_line)
{
    const InputFolder folder;
    const auto expect_error = [&](std::string_view text, std::string_view id, int line, std::string_view part) {
        expect_refused([&] { read_ndx(folder.write("a.ndx", text), 10); }, id, "a.ndx", line, part);
    };
    expect_error("1 2\n[ A ]\n", "E160", 1, "before the first group");
    expect_error("[ A\n1\n", "E160", 1, "brackets");
    expect_error("[ ]\n1\n", "E160", 1, "brackets");
    expect_error("[ A ] 1\n", "E160", 1, "brackets");
    for (const std::string word : {"0", "11", "-1", "x", "1.0", "99999999999999999999"})
    {
        expect_error("[ A ]\n1\n2 " + word + "\n", "E161", 3, "'" + word + "'");
    }
}
