// SPDX-License-Identifier: Apache-2.0
// annealing of the .mdp: whose points are whose, and what is refused.
#include "input_folder.hpp"
#include "io/input/mdp.hpp"

#include <gmock/gmock-more-matchers.h>

namespace parhelion {
namespace {

using testing::SizeIs;

const std::string two_groups = "tcoupl = v-rescale\ntc-grps = A B\ntau-t = 1 1\nref-t = 300 300\n"; // four lines

MdpInput annealing_of(const std::string& lines)
{
    Diagnostics diagnostics;
    return read_mdp_text(two_groups + lines, "md.mdp", diagnostics);
}

TEST(AnnealingValues, are_given_to_their_groups)
{
    const std::string lines =
        "annealing = no periodic\nannealing-npoints = 0 3\nannealing-time = 0 1.5 2\nannealing-temp = 300 310 "
        "300\n";
    const RunParameters p = annealing_of(lines).parameters;
    EXPECT_EQ(p.temperature_groups[0].annealing, Annealing::None);
    EXPECT_EQ(p.temperature_groups[1].annealing, Annealing::Periodic);
    ASSERT_THAT(p.temperature_groups[1].annealing_points, SizeIs(3));
    EXPECT_EQ(p.temperature_groups[1].annealing_points[1].time, 1.5);
    EXPECT_EQ(p.temperature_groups[1].annealing_points[1].temperature, 310);
    // What is printed reads back.
    Diagnostics diagnostics;
    EXPECT_EQ(mdp_text(read_mdp_text(mdp_text(p), "md.mdp", diagnostics).parameters), mdp_text(p));
}

TEST(AnnealingValues, that_do_not_fit_are_refused)
{
    const auto refuse = [](const std::string& lines, int line, const char* part) {
        expect_refused([&] { annealing_of(lines); }, "E107", "md.mdp", line, part);
    };
    refuse("annealing = single\n", 5, "annealing has 1 values");
    refuse("annealing = single no\nannealing-npoints = 2\n", 6, "annealing-npoints has 1 values");
    refuse("annealing = single no\nannealing-npoints = 1 0\n", 6, "a start and an end");
    refuse("annealing = single no\nannealing-npoints = 2 1\n", 6, "Write 0");
    refuse("annealing = single no\nannealing-npoints = 2 0\nannealing-time = 0\n", 7, "annealing-time has 1 values");
    const std::string two = "annealing = single no\nannealing-npoints = 2 0\nannealing-temp = 300 310\n";
    refuse(two + "annealing-time = 1 2\n", 8, "begins at 1 ps");
    refuse(two + "annealing-time = 0 -1\n", 8, "back in time");
    refuse("annealing = periodic no\nannealing-npoints = 2 0\nannealing-temp = 300 310\nannealing-time = -2 0\n", 8,
           "not positive");
}

TEST(AnnealingValues, of_groups_that_differ_leave_the_noise_of_the_barostat_without_a_temperature)
{
    const std::string c_rescale = "pcoupl = c-rescale\ntau-p = 5\ncompressibility = 4.5e-5\nref-p = 1\n"; // from line 5
    const std::string alike =
        "annealing = single single\nannealing-npoints = 2 2\nannealing-time = 0 1 0 1\nannealing-temp = 300 "
        "310 300 310\n";
    EXPECT_NO_THROW(annealing_of(c_rescale + alike));
    EXPECT_NO_THROW(annealing_of(c_rescale + alike + "ensemble-temperature-setting = variable\n"));
    const std::string apart = "annealing = single no\nannealing-npoints = 2 0\nannealing-time = 0 1\nannealing-temp = 300 310\n";
    expect_refused([&] { annealing_of(c_rescale + apart); }, "E107", "md.mdp", 5, "not the same for all groups");
    EXPECT_NO_THROW(annealing_of(c_rescale + apart + "ensemble-temperature-setting = constant\nensemble-temperature = 300\n"));
    expect_refused([&] { annealing_of(c_rescale + "ensemble-temperature-setting = variable\n"); }, "E107", "md.mdp", 5, "");
}

} // namespace
} // namespace parhelion
