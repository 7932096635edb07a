// SPDX-License-Identifier: Apache-2.0
// On GPUs: runs whose atoms become faster or more crowded than their pair lists were planned for.
#include "list_watch_systems.hpp"
#include "support/gpu_test.hpp"

#include <gmock/gmock-matchers.h>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::Contains;
using ::testing::HasSubstr;

namespace {

class ListWatchOnGpu : public GpuTest
{
};

Simulation start(const WatchedRun& run, Device device, Summation summation, Grid grid = {}, const SavedState* saved = nullptr)
{
    SimulationOptions options;
    options.device = device;
    options.summation = summation;
    options.threads = 1;
    options.grid = grid;
    return Simulation(run.system, run.parameters, options, saved);
}

} // namespace

TEST_F(ListWatchOnGpu, builds_lists_more_often_when_atoms_become_hotter)
{
    const WatchedRun run = heating();
    Simulation simulation = start(run, Device::Gpu, Summation::Fast);
    const int before = simulation.plan().list_interval;
    Recorder recorder;
    simulation.run(200, recorder, never);
    EXPECT_GT(recorder.observables.back().temperature, 450) << "or there is nothing to be seen";
    EXPECT_LT(simulation.plan().list_interval, before);
    EXPECT_THAT(recorder.messages, Contains(HasSubstr("Lists are built every")));
    EXPECT_TRUE(simulation.plan().on_gpu);
}

TEST_F(ListWatchOnGpu, leaves_the_reproducible_bits_of_the_start_alone_on_any_ranks)
{
    const WatchedRun run = heating();
    const auto end_of = [&](Grid grid, int break_at) {
        Simulation simulation = start(run, Device::Gpu, Summation::Reproducible, grid);
        Observer nobody;
        simulation.run(break_at > 0 ? break_at : 80, nobody, never);
        if (break_at == 0) { return simulation.frame(); }
        const SavedState saved = simulation.saved_state();
        Simulation after = start(run, Device::Gpu, Summation::Reproducible, grid, &saved);
        after.run(80 - saved.step, nobody, never);
        return after.frame();
    };
    const Frame lone = end_of({}, 0);
    for (const int break_at : {0, 50})
    {
        const Frame frame = end_of({2, 1, 1}, break_at);
        EXPECT_EQ(frame.x, lone.x) << break_at;
        EXPECT_EQ(frame.v, lone.v) << break_at;
    }
}

TEST_F(ListWatchOnGpu, sees_that_a_gas_has_condensed_and_keeps_that_in_its_state)
{
    const Condensed gas = condensed_gas();
    Simulation simulation = start(gas.start, Device::Gpu, Summation::Fast, {}, &gas.later);
    const int before = simulation.plan().list_interval;
    Recorder recorder;
    simulation.run(3, recorder, never);
    EXPECT_LT(simulation.plan().list_interval, before);
    EXPECT_THAT(recorder.messages, Contains(HasSubstr("drawn together")));
    EXPECT_TRUE(simulation.plan().on_gpu);
    const SavedState saved = simulation.saved_state();
    EXPECT_NE(saved.coupling.at("list-conditions"), gas.later.coupling.at("list-conditions"));
    EXPECT_EQ(start(gas.start, Device::Gpu, Summation::Fast, {}, &saved).plan().list_interval, simulation.plan().list_interval);
}
