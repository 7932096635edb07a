// SPDX-License-Identifier: Apache-2.0
// A run is prepared once, and any number of engines start from it: those of GPUs make one for the CPU where they need it.
#include "engine/engine.hpp"
#include "engine/prepared_run.hpp"
#include "run_helpers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <utility>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr std::int64_t steps = 7;

// Coupled, with generated velocities: a start that depends on everything that is prepared.
Refdata heated_water()
{
    Refdata data = load_nve("spce");
    RunParameters& p = data.parameters;
    p.generate_velocities = true;
    p.generation_temperature = 300, p.generation_seed = 3, p.random_seed = 4;
    p.thermostat = Thermostat::VRescale, p.temperature_interval = 1;
    p.temperature_groups = {{.name = "System", .tau = 0.1, .reference = 300}};
    return data;
}

SimulationOptions reproducible(int ranks)
{
    SimulationOptions options;
    options.summation = Summation::Reproducible;
    options.threads = 1, options.ranks = ranks;
    return options;
}

Frame end_of(Engine<MixedReproducible>& engine)
{
    Observer nobody;
    const std::atomic<bool> never{false};
    engine.run(steps, nobody, never);
    return engine.frame();
}

void expect_same_atoms(const Frame& a, const Frame& b)
{
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.x, b.x);
    EXPECT_EQ(a.v, b.v);
}

} // namespace

TEST(PreparedRun, starts_engines_of_any_number_of_ranks_one_after_another)
{
    Refdata data = heated_water();
    Simulation simulation(data.system, data.parameters, reproducible(1));
    Observer nobody;
    simulation.run(steps, nobody, std::atomic<bool>{false});
    const auto run = prepare_run<MixedReproducible>(std::move(data.system), std::move(data.parameters), reproducible(1), nullptr);
    for (const int ranks : {1, 2, 1})
    {
        SCOPED_TRACE(ranks);
        Engine<MixedReproducible> engine(run, reproducible(ranks));
        EXPECT_EQ(engine.plan().ranks, ranks);
        EXPECT_EQ(engine.next_step(), run->start.step);
        expect_same_atoms(end_of(engine), simulation.frame());
    }
}

TEST(PreparedRun, goes_on_from_the_start_that_a_saved_state_replaces)
{
    Refdata data = heated_water();
    Simulation first(data.system, data.parameters, reproducible(1));
    Observer nobody;
    first.run(5, nobody, std::atomic<bool>{false});
    const SavedState saved = first.saved_state();
    ASSERT_GT(saved.step, 0);
    const auto run = prepare_run<MixedReproducible>(std::move(data.system), std::move(data.parameters), reproducible(1), nullptr);
    CpuQueue queue(1);
    put_back(saved, queue, run->start);
    Engine<MixedReproducible> engine(run, reproducible(1));
    EXPECT_EQ(engine.next_step(), saved.step);
    const SavedState again = engine.saved_state();
    EXPECT_EQ(again.x, saved.x);
    EXPECT_EQ(again.v, saved.v);
    EXPECT_EQ(again.coupling, saved.coupling);
}
