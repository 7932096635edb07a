// SPDX-License-Identifier: Apache-2.0
#include "run/tune.hpp"

#include "io/input_folder.hpp"
#include "run/read_input.hpp"
#include "run/short_run.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <string_view>
#include <thread>

using namespace parhelion;
using testing::ElementsAre;

namespace {

std::vector<std::string> options_of(const std::vector<Way>& ways)
{
    std::vector<std::string> all;
    for (const Way& way : ways) { all.push_back(way.options()); }
    return all;
}

PlanSummary plan_of(int ranks, std::array<int, 3> grid, bool on_gpu)
{
    PlanSummary plan;
    plan.ranks = ranks, plan.grid = grid, plan.on_gpu = on_gpu, plan.gpus = on_gpu ? ranks : 0, plan.list_interval = 20;
    return plan;
}

// 3000 atoms; lists as given, or in place of a word of the parameters another one.
LoadedInput small_input(const std::string& from = "", const std::string& to = "")
{
    std::string mdp = short_mdp;
    const auto replace = [&](std::string_view what, std::string_view by) { mdp.replace(mdp.find(what), what.size(), by); };
    replace("rlist = 1.0", "rlist = 0.7"), replace("rcoulomb = 0.9", "rcoulomb = 0.6"), replace("rvdw = 0.9", "rvdw = 0.6");
    if (!from.empty()) { replace(from, to); }
    const InputFolder folder;
    const std::filesystem::path data = std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/refdata/etoh";
    RunInput input;
    input.files.mdp = folder.write("md.mdp", mdp);
    input.files.structure = data / "conf.gro";
    input.files.topology = data / "topol.top";
    Diagnostics diagnostics;
    return read_input(input, Purpose::Run, diagnostics, [](const std::string&) {});
}

TuneRequest request_of(double seconds)
{
    TuneRequest request;
    request.placement.device = Device::Cpu, request.placement.threads = 2, request.seconds = seconds, request.window_s = 0.05;
    return request;
}

void hear_nothing(const Try&) {}

} // namespace

TEST(Tune, calls_nothing_faster_that_is_within_the_noise)
{
    const std::vector<double> base = {100, 102, 104};
    EXPECT_TRUE(is_faster({80, 82, 81}, base));
    EXPECT_FALSE(is_faster({80, 82, 100.5}, base)); // one window is slower than one of the others
    EXPECT_FALSE(is_faster({97, 99, 98}, base));    // apart, but by no more than each scatters
    EXPECT_FALSE(is_faster({80, 99, 85}, base));    // scatters more than it gains
    EXPECT_FALSE(is_faster(base, base));
    EXPECT_FALSE(is_faster(base, {80, 82, 81}));
}

TEST(Tune, varies_threads_and_ranks_on_cpus)
{
    TuneLimits limits;
    limits.cores = 8;
    const Way base;
    EXPECT_THAT(options_of(ways_of_stage(0, base, plan_of(1, {1, 1, 1}, false), limits)),
                ElementsAre(" --threads 4", " --threads 2", " --threads 1", " --ranks 2 --threads 4", " --ranks 4 --threads 2",
                            " --ranks 8 --threads 1"));
    for (int stage = 1; stage < 4; ++stage)
    {
        EXPECT_TRUE(ways_of_stage(stage, base, plan_of(1, {1, 1, 1}, false), limits).empty()) << stage; // nothing to share
    }
}

TEST(Tune, varies_what_several_ranks_share)
{
    TuneLimits limits;
    limits.cores = 8, limits.has_mesh = true;
    Way base;
    base.placement.ranks = 8, base.placement.threads = 1;
    const PlanSummary plan = plan_of(8, {2, 2, 2}, false);
    EXPECT_THAT(options_of(ways_of_stage(1, base, plan, limits)),
                ElementsAre(" --ranks 8 --threads 1 --grid 8x1x1", " --ranks 8 --threads 1 --grid 4x2x1"));
    EXPECT_THAT(options_of(ways_of_stage(2, base, plan, limits)),
                ElementsAre(" --ranks 8 --threads 1 --halo staged-host", " --ranks 8 --threads 1 --halo staged-fused"));
    EXPECT_THAT(options_of(ways_of_stage(3, base, plan, limits)),
                ElementsAre(" --ranks 8 --threads 1 --pme gathered", " --ranks 8 --threads 1 --pme bricks",
                            " --ranks 8 --threads 1 --pme shared", " --ranks 8 --threads 1 --pme dedicated:1"));
}

TEST(Tune, varies_the_number_of_gpus_and_how_they_exchange)
{
    TuneLimits limits;
    limits.gpus = 4;
    const Way base;
    EXPECT_THAT(options_of(ways_of_stage(0, base, plan_of(2, {2, 1, 1}, true), limits)), ElementsAre(" --gpus 4", " --gpus 1"));
    Way four;
    four.placement.gpus = 4;
    EXPECT_THAT(options_of(ways_of_stage(1, four, plan_of(4, {1, 4, 1}, true), limits)), ElementsAre(" --gpus 4 --grid 2x2x1"));
    EXPECT_THAT(options_of(ways_of_stage(2, four, plan_of(4, {4, 1, 1}, true), limits)),
                ElementsAre(" --gpus 4 --halo staged-host", " --gpus 4 --halo staged-dma", " --gpus 4 --halo staged-fused"));
}

TEST(Tune, varies_the_lists_that_are_planned_and_no_others)
{
    TuneLimits limits;
    const PlanSummary plan = plan_of(1, {1, 1, 1}, false);
    const std::vector<Way> ways = ways_of_stage(4, {}, plan, limits);
    ASSERT_EQ(ways.size(), 3u);
    EXPECT_EQ(ways[0].list_interval, 25);
    EXPECT_EQ(ways[2].list_interval, 40);
    limits.plans_lists = false; // rlist and nstlist are as given: another interval would lose pairs
    EXPECT_TRUE(ways_of_stage(4, {}, plan, limits).empty());
}

TEST(Tune, measures_every_way_by_three_windows_and_tells_each)
{
    const LoadedInput input = small_input("verlet-buffer-tolerance = -1\n rlist = 0.7\n", "");
    std::vector<std::string> told;
    const Tuning tuning = tune(input, request_of(300), [&](const Try& one) { told.push_back(one.way.options()); });
    ASSERT_GE(tuning.tries.size(), 3u);
    EXPECT_THAT(told, testing::ElementsAreArray([&] {
                    std::vector<std::string> all;
                    for (const Try& one : tuning.tries) { all.push_back(one.way.options()); }
                    return all;
                }()));
    EXPECT_EQ(told[0], " --device cpu --threads 2");
    EXPECT_EQ(told[1], " --device cpu --threads 1");
    EXPECT_EQ(told[2], " --device cpu --ranks 2 --threads 1");
    for (const Try& one : tuning.tries)
    {
        EXPECT_TRUE(!one.refused.empty() || one.samples.us_per_step.size() >= 3) << one.way.options();
    }
    EXPECT_LT(tuning.fastest, tuning.tries.size());
}

TEST(Tune, ends_with_its_time_and_says_what_was_not_tried)
{
    constexpr int seconds = 15;
    const Tuning tuning = tune(small_input(), request_of(seconds), [&](const Try&) {
        std::this_thread::sleep_for(std::chrono::seconds(seconds)); // the first try takes all of it
    });
    EXPECT_EQ(tuning.tries.size(), 1u);
    EXPECT_EQ(tuning.fastest, 0u);
    EXPECT_THAT(options_of(tuning.not_tried), ElementsAre(" --device cpu --threads 1", " --device cpu --ranks 2 --threads 1"));
}

TEST(Tune, refuses_a_time_that_is_too_short_and_a_minimisation)
{
    EXPECT_THROW(tune(small_input(), request_of(1e-3), hear_nothing), SystemError);
    try
    {
        tune(small_input("integrator = md", "integrator = steep"), request_of(5), hear_nothing);
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E200");
    }
}
