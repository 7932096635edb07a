// SPDX-License-Identifier: Apache-2.0
// Runs whose atoms become faster or more crowded than their pair lists were planned for.
#include "engine/list_watch.hpp"

#include "base/error.hpp"
#include "list_watch_systems.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <limits>

using namespace parhelion;
using namespace parhelion::test;

namespace {

Simulation start(const WatchedRun& run, const SimulationOptions& options, const SavedState* saved = nullptr)
{
    return Simulation(run.system, run.parameters, options, saved);
}

SimulationOptions on_one_thread(Summation summation = Summation::Fast)
{
    SimulationOptions options;
    options.summation = summation;
    options.threads = 1;
    return options;
}

} // namespace

TEST(ListWatch, looks_at_all_atoms_once_in_so_many_steps)
{
    for (const int interval : {1, 7, 20, 50})
    {
        int looks = 0;
        for (std::int64_t step = 0; step < 5 * crowding_interval; step += interval)
        {
            looks += ListWatch::is_time_to_look(step, interval);
        }
        EXPECT_EQ(looks, 4) << interval;
    }
}

TEST(ListWatch, builds_lists_more_often_when_atoms_become_hotter)
{
    const WatchedRun run = heating();
    Simulation simulation = start(run, on_one_thread());
    const int before = simulation.plan().list_interval;
    Recorder recorder;
    simulation.run(400, recorder, never);
    EXPECT_GT(recorder.observables.back().temperature, 450) << "or there is nothing to be seen";
    EXPECT_LT(simulation.plan().list_interval, before);
    EXPECT_THAT(recorder.messages, testing::Contains(testing::HasSubstr("Lists are built every")));
}

// With fast sums on one thread: which pairs a list lacks decides the bits.
TEST(ListWatch, gives_a_run_that_goes_on_the_lists_it_would_have_had)
{
    const WatchedRun run = heating();
    Simulation through = start(run, on_one_thread());
    Observer nobody;
    through.run(400, nobody, never);
    for (const std::int64_t part : {30, 150, 260})
    {
        Simulation before = start(run, on_one_thread());
        before.run(part, nobody, never);
        const SavedState saved = before.saved_state();
        Simulation after = start(run, on_one_thread(), &saved);
        after.run(400 - saved.step, nobody, never);
        EXPECT_EQ(after.plan().list_interval, through.plan().list_interval) << part;
        EXPECT_EQ(after.frame().x, through.frame().x) << part;
        EXPECT_EQ(after.frame().v, through.frame().v) << part;
    }
}

TEST(ListWatch, leaves_reproducible_bits_alone_on_any_ranks_and_threads)
{
    const WatchedRun run = heating();
    const auto end_of = [&](std::array<int, 3> grid, int threads) {
        SimulationOptions options = on_one_thread(Summation::Reproducible);
        options.grid = grid, options.threads = threads;
        Simulation simulation = start(run, options);
        Observer nobody;
        simulation.run(100, nobody, never);
        return simulation.frame();
    };
    const Frame lone = end_of({0, 0, 0}, 1);
    for (const std::array<int, 3> grid : {std::array{0, 0, 0}, {2, 1, 1}, {3, 1, 1}})
    {
        const Frame frame = end_of(grid, grid[0] == 0 ? 2 : 1);
        EXPECT_EQ(frame.x, lone.x) << grid[0];
        EXPECT_EQ(frame.v, lone.v) << grid[0];
    }
}

TEST(ListWatch, sees_that_a_gas_has_condensed)
{
    const Condensed gas = condensed_gas();
    Simulation simulation = start(gas.start, on_one_thread(), &gas.later);
    const int before = simulation.plan().list_interval;
    Recorder recorder;
    simulation.run(3, recorder, never);
    EXPECT_LT(simulation.plan().list_interval, before);
    EXPECT_THAT(recorder.messages, testing::Contains(testing::HasSubstr("drawn together")));
}

TEST(ListWatch, goes_on_from_a_state_that_knows_nothing_of_it)
{
    const Condensed gas = condensed_gas();
    SavedState old = gas.later;
    old.coupling.erase("list-conditions");
    old.step = 50;
    Observer nobody;
    EXPECT_NO_THROW(start(gas.start, on_one_thread(), &old).run(3, nobody, never));
}

TEST(ListWatch, takes_no_conditions_from_a_state_that_no_run_has)
{
    const ListConditions start{300, {1, 1}};
    SavedState saved;
    for (const double value : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()})
    {
        saved.coupling["list-conditions"] = {value, value, value};
        ListConditions conditions = start;
        read_conditions(saved, conditions);
        EXPECT_EQ(conditions, start) << value;
    }
    saved.coupling["list-conditions"] = {330, 1, 2};
    ListConditions conditions = start;
    read_conditions(saved, conditions);
    EXPECT_EQ(conditions, (ListConditions{330, {1, 2}}));
    saved.coupling["list-conditions"] = {330, 1};
    EXPECT_THROW(read_conditions(saved, conditions), InputError);
    saved.coupling["list-conditions"] = {};
    EXPECT_THROW(read_conditions(saved, conditions), InputError);
}
