// SPDX-License-Identifier: Apache-2.0
// How many GPUs a run gets: those that were measured to be fastest, no more than the box has cells for, or what was asked for.
#include "engine/choose_gpus.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

using namespace parhelion;
using ::testing::HasSubstr;

namespace {

// us per step of the ethanol-water series on H200, by atoms and GPUs: bench/gpu/scaling; fewer than 45 000 atoms:
// bench/gpu/step and, of other plans, bench/gpu/lists.
const std::map<std::int64_t, std::map<int, double>> measured = {
    {3000, {{1, 16.8}}},
    {12000, {{1, 25.0}}},
    {24000, {{1, 35.8}}},
    {45000, {{1, 54.3}, {2, 41.7}, {4, 32.7}}},
    {90000, {{1, 92.8}, {2, 61.3}, {4, 42.2}}},
    {180000, {{1, 173.8}, {2, 102.4}, {4, 62.1}}},
    {360000, {{1, 329.9}, {2, 185.1}, {4, 104.4}}},
    {720000, {{1, 652.8}, {2, 350.4}, {4, 187.2}}},
};
// Likewise, by method.
const std::map<HaloMethod, std::map<std::int64_t, std::map<int, double>>> measured_of_rungs = {
    {HaloMethod::StagedHost, {{45000, {{2, 126.4}, {4, 151.2}}}, {180000, {{2, 192.1}, {4, 165.3}}}}},
    {HaloMethod::StagedDma, {{45000, {{2, 94.3}, {4, 111.0}}}, {180000, {{2, 163.0}, {4, 131.5}}}}},
    {HaloMethod::StagedFused, {{45000, {{2, 49.3}, {4, 41.5}}}, {180000, {{2, 108.7}, {4, 68.2}}}}},
};

const Vec3<double> large_box{50, 50, 50};
const GridCriteria criteria{{1.3, 1.3, 1.3}, {1.3, 1.3, 1.3}, {}, 1};

GpuChoice choose(std::int64_t atoms, int there, const Vec3<double>& box = large_box, const SimulationOptions& options = {})
{
    return choose_gpus(options, there, atoms, box, criteria);
}

} // namespace

TEST(GpuChoice, predicts_a_step_to_a_tenth)
{
    for (const auto& [atoms, by_gpus] : measured)
    {
        for (const auto& [gpus, us] : by_gpus)
        {
            EXPECT_NEAR(predicted_step(atoms, gpus, HaloMethod::Direct), us, 0.1 * us) << atoms << " atoms, " << gpus;
        }
    }
    for (const auto& [method, sizes] : measured_of_rungs)
    {
        for (const auto& [atoms, by_gpus] : sizes)
        {
            for (const auto& [gpus, us] : by_gpus)
            {
                EXPECT_NEAR(predicted_step(atoms, gpus, method), us, 0.1 * us)
                    << halo_method_names[static_cast<std::size_t>(method)] << ", " << atoms << " atoms, " << gpus;
            }
        }
    }
}

TEST(GpuChoice, leaves_gpus_that_a_slower_halo_would_waste)
{
    SimulationOptions options;
    options.halo = HaloMethod::StagedHost;
    EXPECT_EQ(choose(45000, 4, large_box, options).gpus, 1);
    EXPECT_EQ(choose(45000, 4, large_box, options).remark, "1 of 4: more would not help at 45000 atoms");
    EXPECT_EQ(choose(720000, 4, large_box, options).gpus, 4);
    options.gpus = 4;
    EXPECT_EQ(choose(45000, 4, large_box, options).gpus, 4);
}

TEST(GpuChoice, takes_what_was_measured_to_be_fastest)
{
    for (const auto& [atoms, by_gpus] : measured)
    {
        double shortest = INFINITY;
        for (const auto& [there, us] : by_gpus)
        {
            shortest = std::min(shortest, us);
            EXPECT_LE(by_gpus.at(choose(atoms, there).gpus), 1.03 * shortest) << atoms << " atoms, " << there << " there";
        }
    }
}

TEST(GpuChoice, leaves_gpus_that_would_not_help_and_says_so)
{
    const GpuChoice some = choose(18000, 5);
    EXPECT_EQ(some.gpus, 4);
    EXPECT_EQ(some.grid.ranks(), 4);
    EXPECT_EQ(some.remark, "4 of 5: more would not help at 18000 atoms");
    EXPECT_EQ(choose(3000, 4).remark, "1 of 4: more would not help at 3000 atoms");
    const GpuChoice all = choose(10'000'000, 6);
    EXPECT_EQ(all.gpus, 6);
    EXPECT_EQ(all.remark, "");
    EXPECT_EQ(choose(3000, 1).remark, "");
}

TEST(GpuChoice, never_divides_a_box_that_is_too_short)
{
    const GpuChoice slab = choose(10'000'000, 4, {2.5, 40, 2.5});
    EXPECT_EQ(slab.grid.cells, (std::array<int, 3>{1, 4, 1}));
    const GpuChoice none = choose(10'000'000, 4, {2.5, 2.5, 2.5});
    EXPECT_EQ(none.gpus, 1);
    EXPECT_EQ(none.grid.ranks(), 1);
    EXPECT_EQ(none.remark, "1 of 4: the box is too short to be divided");
}

TEST(GpuChoice, gives_as_many_as_are_asked_for_or_fit)
{
    SimulationOptions options;
    options.gpus = 4;
    EXPECT_EQ(choose(3000, 4, large_box, options).gpus, 4);
    EXPECT_EQ(choose(3000, 8, large_box, options).remark, "");
    const GpuChoice small = choose(3000, 4, {2.5, 2.5, 2.5}, options);
    EXPECT_EQ(small.gpus, 1);
    EXPECT_EQ(small.remark, "1 of 4: the box is too short to be divided");
    try
    {
        choose(3000, 2, large_box, options);
        FAIL() << "no error";
    }
    catch (const InputError& e)
    {
        EXPECT_THAT(e.what(), HasSubstr("--gpus 4"));
    }
}

TEST(GpuChoice, spreads_ranks_that_are_asked_for_over_gpus)
{
    SimulationOptions options;
    options.ranks = 6;
    EXPECT_EQ(choose(3000, 4, large_box, options).gpus, 4);
    EXPECT_EQ(choose(3000, 4, large_box, options).grid.ranks(), 6);
    EXPECT_EQ(choose(3000, 8, large_box, options).gpus, 6);
    EXPECT_EQ(choose(3000, 8, large_box, options).remark, "");
    options.gpus = 7;
    EXPECT_EQ(choose(3000, 8, large_box, options).gpus, 6);
    EXPECT_EQ(choose(3000, 8, large_box, options).remark, "6 of 7: there are no more ranks");
    options.gpus = 2;
    EXPECT_EQ(choose(3000, 8, large_box, options).gpus, 2);
    EXPECT_EQ(choose(3000, 8, large_box, options).grid.ranks(), 6);
    EXPECT_THROW(choose(3000, 8, {2.5, 2.5, 2.5}, options), InputError);
    options.ranks = 1;
    EXPECT_EQ(choose(10'000'000, 8, large_box, options).gpus, 1);
    EXPECT_EQ(choose(10'000'000, 8, {2.5, 2.5, 2.5}, options).grid.ranks(), 1);
    SimulationOptions grid;
    grid.grid = {1, 2, 1};
    EXPECT_EQ(choose(3000, 8, large_box, grid).gpus, 2);
    EXPECT_EQ(choose(3000, 1, large_box, grid).gpus, 1);
    EXPECT_EQ(choose(3000, 1, large_box, grid).grid.cells, grid.grid);
}
