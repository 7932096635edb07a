// SPDX-License-Identifier: Apache-2.0
// Timelines of runs on the CPU: every rank's phases, one after another, step by step.
#include "run_helpers.hpp"

#include <gtest/gtest.h>

#include <set>

using namespace parhelion;
using namespace parhelion::test;

TEST(Trace, of_a_run_on_ranks_has_the_phases_of_every_step_of_each_one_after_another)
{
    const Refdata data = load_nve("spce");
    SimulationOptions options;
    options.grid = {2, 1, 1};
    options.ranks = 2;
    options.threads = 1;
    options.trace = true;
    Simulation simulation(data.system, data.parameters, options);
    Observer nobody;
    const RunSummary summary = simulation.run(5, nobody, never);
    const std::vector<Timeline> timelines = simulation.timelines();
    ASSERT_EQ(timelines.size(), 2u);
    for (std::size_t rank = 0; rank < 2; ++rank)
    {
        const Timeline& timeline = timelines[rank];
        EXPECT_EQ(timeline.process, "rank " + std::to_string(rank));
        EXPECT_GT(timeline.atoms, 0);
        EXPECT_EQ(timeline.peers, std::vector<std::size_t>{1 - rank});
        std::set<std::pair<std::int64_t, std::string>> seen;
        std::uint64_t until = 0;
        for (const Timeline::Span& s : timeline.spans)
        {
            EXPECT_GE(s.begin, until) << "phases overlap: " << timeline.names[s.name];
            EXPECT_GE(s.end, s.begin);
            until = s.end;
            seen.emplace(s.step, timeline.names[s.name]);
        }
        for (std::int64_t step = 0; step < 5; ++step)
        {
            for (const auto* phase : {"nonbonded", "send coordinates", "return forces", "kick", "constrain", "drift"})
            {
                EXPECT_TRUE(seen.contains({step, phase})) << step << " " << phase;
            }
        }
    }
    EXPECT_EQ(timelines[0].atoms + timelines[1].atoms, data.system.topology.atom_count());
    EXPECT_GT(summary.covered_us, 0);
    EXPECT_GT(summary.host_load, 0);
}

TEST(Trace, is_not_kept_unless_asked_for)
{
    const Refdata data = load_nve("spce");
    Simulation simulation = simulate(data, Precision::Mixed);
    Observer nobody;
    simulation.run(2, nobody, never);
    for (const Timeline& timeline : simulation.timelines()) { EXPECT_TRUE(timeline.spans.empty()); }
}
