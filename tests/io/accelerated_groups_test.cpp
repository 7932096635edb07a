// SPDX-License-Identifier: Apache-2.0
// acc-grps, accelerate and comm-mode: what is read, and what is refused.
#include "input_folder.hpp"
#include "small_input.hpp"

#include <gmock/gmock-more-matchers.h>

namespace parhelion {
namespace {

using testing::SizeIs;

LoadedInput load_with(const std::string& lines, Diagnostics& diagnostics)
{
    SmallInput input;
    input.replace("run.mdp", "free-energy             = no", "free-energy = no\n" + lines);
    return input.load(diagnostics);
}

TEST(AcceleratedGroups, are_read_with_three_numbers_each)
{
    Diagnostics diagnostics;
    const RunParameters p = load_with("acc-grps = ETH NA SOL\naccelerate = 0 0 0  0.1 -2 3 0 0 1e-3\n", diagnostics).parameters;
    ASSERT_THAT(p.accelerated_groups, SizeIs(2));
    EXPECT_EQ(p.accelerated_groups[0].name, "NA");
    EXPECT_EQ(p.accelerated_groups[0].acceleration, (Vec3<double>{0.1, -2, 3}));
    EXPECT_EQ(p.accelerated_groups[1].acceleration, (Vec3<double>{0, 0, 1e-3}));
    EXPECT_THAT(load_with("accelerate = 0\n", diagnostics).parameters.accelerated_groups, SizeIs(0));
}

TEST(AcceleratedGroups, are_refused_where_numbers_or_groups_do_not_fit)
{
    const auto refuse = [](const std::string& lines, const char* id, const char* part) {
        SmallInput input;
        input.replace("run.mdp", "free-energy             = no", "free-energy = no\n" + lines);
        Diagnostics diagnostics;
        expect_refused([&] { input.load(diagnostics); }, id, input.path("run.mdp"), 34, part);
    };
    refuse("accelerate = 1 2\nacc-grps = ETH\n", "E107", "accelerate has 2 numbers");
    refuse("acc-grps = ETH\n", "E107", "accelerate has 0 numbers");
    refuse("acc-grps = Nobody\naccelerate = 1 2 3\n", "E150", "Nobody");
    refuse("acc-grps = ETH System\naccelerate = 1 2 3 4 5 6\n", "E154", "more than one group of acc-grps");
}

TEST(CommMode, angular_is_warned_of_as_in_gromacs)
{
    SmallInput input;
    input.replace("run.mdp", "free-energy             = no", "free-energy = no\ncomm-mode = angular\n");
    Diagnostics diagnostics;
    EXPECT_EQ(input.load(diagnostics).parameters.com_mode, ComMode::Angular);
    EXPECT_TRUE(std::ranges::any_of(diagnostics.warnings, [](const Warning& w) { return w.id == "W172"; }));
}

} // namespace
} // namespace parhelion
