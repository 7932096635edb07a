// SPDX-License-Identifier: Apache-2.0
// Of timelines with known steps: lengths, the critical path, waits, work, occupancy, slow steps and what is said of them.
#include "analysis/analysis.hpp"

#include "base/error.hpp"
#include "traces.hpp"

#include <cmath>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;
using testing::Contains;
using testing::HasSubstr;

namespace {

constexpr double eps = 1e-9; // times are whole ns

NamedTimes named(const TraceAnalysis& analysis, const std::string& name)
{
    const auto at = std::find_if(analysis.names.begin(), analysis.names.end(), [&](const auto& t) { return t.name == name; });
    EXPECT_NE(at, analysis.names.end()) << name;
    return at == analysis.names.end() ? NamedTimes{} : *at;
}

double on_path(const TraceAnalysis& analysis)
{
    double sum = analysis.path_gaps;
    for (const NamedTimes& t : analysis.names) { sum += t.path; }
    return sum;
}

// Two ranks of which `late` computes pairs for 70 us and the other for 40 us; 100 us a step.
void add_uneven_step(TracedRanks& ranks, int late)
{
    for (const int r : {0, 1})
    {
        const double pairs = r == late ? 70 : 40, end = r == late ? 85 : 82;
        ranks.add(r, Phase::SendCoordinates, 0, 10);
        ranks.add(r, Phase::Nonbonded, 10, 10 + pairs);
        ranks.add(r, Phase::ReturnForces, 10 + pairs, end);
        ranks.add(r, Phase::Kick, end, end + 13);
    }
}

// Local pairs beside the exchange and the pairs with halo atoms; 100 us a step, of which `local` and `nonlocal` say when they
// end.
const std::vector<NamedKernel> kernels = {
    {"pairs", Phase::Nonbonded},  {"send_x", Phase::SendCoordinates}, {"send_f", Phase::ReturnForces}, {"fft", Phase::Fft},
    {"update", Phase::Constrain}, {"sort", Phase::Reorder},           {"observables", Phase::Output}};

void add_gpu_step(TracedGpu& gpu, std::int64_t step, double local, double nonlocal)
{
    gpu.begin(step, 1000.0 + 100.0 * static_cast<double>(step));
    gpu.run("send_x", 2, 5);
    gpu.run("pairs", 7, nonlocal - 12, 2);
    gpu.run("pairs", 3, local, 4);
    gpu.run("send_f", nonlocal - 10, nonlocal);
    gpu.run("update", std::max(local, nonlocal) + 4, 96);
}

} // namespace

TEST(TraceAnalysis, of_uneven_ranks_has_the_path_through_the_late_one_and_the_wait_of_the_other)
{
    TracedRanks ranks(2);
    for (std::int64_t step = 0; step < 12; ++step)
    {
        ranks.begin(step, 5000.0 + 100.0 * static_cast<double>(step));
        add_uneven_step(ranks, 1);
    }
    const TraceAnalysis a = analyse(ranks.trace());
    EXPECT_FALSE(a.is_of_gpus);
    EXPECT_EQ(a.all.count, 10u) << "neither the first nor the last";
    EXPECT_NEAR(a.all.mean, 100, eps);
    EXPECT_NEAR(a.all.deviation, 0, eps);
    EXPECT_NEAR(named(a, "nonbonded").path, 70, eps);
    EXPECT_NEAR(named(a, "nonbonded").busy, 55, eps);
    EXPECT_NEAR(named(a, "return forces").path, 5, eps);
    EXPECT_NEAR(named(a, "send coordinates").path, 10, eps);
    EXPECT_NEAR(named(a, "kick").path, 13, eps);
    EXPECT_NEAR(named(a, "kick").path_steps, 1, eps);
    EXPECT_NEAR(a.path_gaps, 2, eps);
    EXPECT_NEAR(a.path_messages, 15, eps);
    EXPECT_NEAR(on_path(a), 100, eps) << "every moment is in one part of it";
    EXPECT_NEAR(a.processes[0].path, 0, eps);
    EXPECT_NEAR(a.processes[1].path, 100, eps);
    ASSERT_EQ(a.waits.size(), 1u);
    EXPECT_EQ(a.waits[0].process, "rank 0");
    EXPECT_EQ(a.waits[0].peer, "rank 1");
    EXPECT_EQ(a.waits[0].phase, "return forces");
    EXPECT_EQ(a.waits[0].cause, "nonbonded");
    EXPECT_NEAR(a.waits[0].us, 30, eps);
    EXPECT_NEAR(a.waits[0].steps, 1, eps);
    EXPECT_NEAR(a.processes[0].waiting, 30, eps);
    EXPECT_NEAR(a.processes[0].exchange, 42, eps);
    EXPECT_NEAR(a.processes[0].compute, 53, eps);
    EXPECT_NEAR(a.processes[0].idle, 5, eps);
    EXPECT_NEAR(a.imbalance, 83.0 / 68.0 - 1, eps);
    EXPECT_TRUE(a.slow.empty());
    EXPECT_THAT(a.advice, Contains(HasSubstr("rank 1 computes 22 % longer than the mean rank")));
}

// Rank 1 takes 120 us and 80 us by turns, without a pause.
TEST(TraceAnalysis, of_a_rank_that_lags_and_catches_up_has_no_more_time_than_the_steps)
{
    TracedRanks ranks(2);
    for (std::int64_t step = 0; step < 12; ++step)
    {
        ranks.begin(step, 5000.0 + 100.0 * static_cast<double>(step));
        ranks.add(0, Phase::Nonbonded, 0, 100);
        ranks.add(1, Phase::Nonbonded, step % 2 == 0 ? 0 : 20, step % 2 == 0 ? 120 : 100);
    }
    const TraceAnalysis a = analyse(ranks.trace());
    EXPECT_NEAR(a.all.mean, 100, eps);
    EXPECT_NEAR(a.processes[1].compute, 100, eps);
    EXPECT_NEAR(a.processes[1].idle, 0, eps);
}

TEST(TraceAnalysis, goes_over_from_rank_to_rank_where_they_wait_for_each_other)
{
    TracedRanks ranks(2);
    for (std::int64_t step = 0; step < 22; ++step)
    {
        ranks.begin(step, 100.0 * static_cast<double>(step));
        add_uneven_step(ranks, static_cast<int>(step % 2));
    }
    const TraceAnalysis a = analyse(ranks.trace());
    EXPECT_NEAR(named(a, "nonbonded").path, 70, eps) << "of the late one, whichever it is";
    EXPECT_NEAR(on_path(a), 100, eps);
    // The last step that counts is rank 0's; where the update of the rank that came in time is on the path, it begins at 82 us,
    // and from the begin of the late one's forces at 80 us to there is the message.
    EXPECT_NEAR(a.processes[0].path + a.processes[1].path, 100, eps);
    EXPECT_GT(a.processes[0].path, 40);
    EXPECT_GT(a.processes[1].path, 40);
    EXPECT_NEAR(a.imbalance, 0, eps);
    ASSERT_EQ(a.waits.size(), 2u);
    for (const WaitTimes& wait : a.waits)
    {
        EXPECT_NEAR(wait.us, 15, eps);
        EXPECT_NEAR(wait.steps, 0.5, eps);
    }
    EXPECT_THAT(a.advice, Contains(HasSubstr("it varies from step to step")));
}

TEST(TraceAnalysis, cuts_the_path_where_steps_begin)
{
    TracedRanks ranks(2);
    for (std::int64_t step = 0; step < 7; ++step)
    {
        ranks.begin(step, 100.0 * static_cast<double>(step));
        ranks.add(0, Phase::Kick, 0, 50);
        ranks.add(1, Phase::Drift, step == 6 ? 3 : 0, step == 5 ? 103 : 90); // once into the next step of the other
    }
    const TraceAnalysis a = analyse(ranks.trace());
    EXPECT_EQ(a.all.count, 5u);
    EXPECT_NEAR(on_path(a), 100, eps);
    EXPECT_NEAR(named(a, "drift").path, (4 * 90 + 100) / 5.0, eps) << "3 us are of the last step, which is not counted";
}

TEST(TraceAnalysis, awaits_the_peers_of_the_halo_alone_where_they_are_known)
{
    TracedRanks ranks(3);
    for (std::int64_t step = 0; step < 6; ++step)
    {
        ranks.begin(step, 100.0 * static_cast<double>(step));
        for (const int r : {0, 1, 2})
        {
            const double pairs_end = 20 + 10 * r;
            ranks.add(r, Phase::Nonbonded, 0, pairs_end);
            ranks.add(r, Phase::ReturnForces, pairs_end, 50);
            ranks.add(r, Phase::Reduce, 60, 90);
        }
    }
    const auto waits_of_first = [](const TraceAnalysis& a) {
        std::vector<std::pair<std::string, double>> list;
        for (const WaitTimes& w : a.waits)
        {
            if (w.process == "rank 0" && w.phase == "return forces") { list.emplace_back(w.peer, w.us); }
        }
        return list;
    };
    EXPECT_THAT(waits_of_first(analyse(ranks.trace())), testing::ElementsAre(std::pair("rank 2", 20)));
    ranks.timelines()[0].peers = {1};
    ranks.timelines()[1].peers = {0, 2};
    ranks.timelines()[0].atoms = 42;
    const TraceAnalysis a = analyse(ranks.trace());
    EXPECT_THAT(waits_of_first(a), testing::ElementsAre(std::pair("rank 1", 10)));
    EXPECT_EQ(a.processes[0].atoms, 42);
    EXPECT_EQ(a.processes[2].atoms, 0);
}

TEST(TraceAnalysis, of_gpus_has_the_work_of_step_work_and_what_is_exposed)
{
    std::vector<Timeline> timelines;
    std::vector<TracedGpu> gpus;
    for (int g = 0; g < 2; ++g)
    {
        TracedGpu& gpu = gpus.emplace_back("GPU " + std::to_string(g) + ", cells", kernels);
        for (std::int64_t step = 0; step < 9; ++step) { add_gpu_step(gpu, step, 60, 80); }
        timelines.push_back(gpu.timeline());
    }
    const TraceAnalysis a = analyse(read_back(timelines));
    EXPECT_TRUE(a.is_of_gpus);
    EXPECT_EQ(a.all.count, 8u);
    EXPECT_NEAR(a.all.mean, 100, eps);
    const StepWork expected = step_work(gpus[0].kernels(), gpus[0].records());
    for (const ProcessTimes& p : a.processes)
    {
        EXPECT_NEAR(p.work.local, 57, eps);
        EXPECT_NEAR(p.work.nonlocal, 78, eps);
        EXPECT_NEAR(p.work.nonoverlap, 20, eps);
        EXPECT_NEAR(p.work.step, 100, eps);
        for (const auto& [name, part] : step_work_parts) { EXPECT_NEAR(p.work.*part, expected.*part, eps) << name; }
    }
    // Backwards: update 84-96, gap, send_f 70-80, gap, nonlocal pairs 7-68, gap, send_x 2-5, gap.
    EXPECT_NEAR(named(a, "update").path, 12, eps);
    EXPECT_NEAR(named(a, "send_f").path, 10, eps);
    EXPECT_NEAR(named(a, "pairs").path, 61, eps) << "the local pairs are not on it";
    EXPECT_NEAR(named(a, "send_x").path, 3, eps);
    EXPECT_NEAR(a.path_gaps, 14, eps);
    EXPECT_NEAR(named(a, "pairs").calls, 2, eps);
    EXPECT_NEAR(named(a, "pairs").busy, 65, eps);
    EXPECT_THAT(a.advice, Contains(HasSubstr("20 us of nonlocal work come after the local work (57 us), 20 % of a step")));
}

TEST(TraceAnalysis, of_gpus_waits_for_the_forces_of_the_late_one)
{
    std::vector<Timeline> timelines;
    for (int g = 0; g < 2; ++g)
    {
        TracedGpu gpu("GPU " + std::to_string(g), kernels);
        for (std::int64_t step = 0; step < 9; ++step)
        {
            gpu.begin(step, 100.0 * static_cast<double>(step));
            gpu.run("pairs", 0, g == 0 ? 30 : 60);
            gpu.run("send_f", g == 0 ? 31 : 61, g == 0 ? 34 : 64);
            gpu.run("update", g == 0 ? 35 : 65, 90); // that of GPU 0 begins, and waits for forces until 64
        }
        timelines.push_back(gpu.timeline());
    }
    const TraceAnalysis a = analyse(read_back(timelines));
    ASSERT_EQ(a.waits.size(), 1u) << "a sender of forces waits for nobody, as nothing comes after its begin";
    EXPECT_NEAR(on_path(a), 100, eps);
    EXPECT_EQ(a.waits[0].process, "GPU 0");
    EXPECT_EQ(a.waits[0].peer, "GPU 1");
    EXPECT_EQ(a.waits[0].phase, "update");
    EXPECT_EQ(a.waits[0].cause, "pairs");
    EXPECT_NEAR(a.waits[0].us, 29, eps);
}

TEST(TraceAnalysis, says_in_which_share_of_the_steps_a_kernel_is_on_the_path)
{
    TracedGpu gpu("GPU 0", kernels);
    for (std::int64_t step = 0; step < 41; ++step)
    {
        gpu.begin(step, 100.0 * static_cast<double>(step));
        gpu.run("fft", 1, step % 4 == 0 ? 40 : 80);
        gpu.run("pairs", 1, 60);
        gpu.run("update", 85, 95);
    }
    const TraceAnalysis a = analyse(read_back({gpu.timeline()}));
    EXPECT_NEAR(named(a, "fft").path_steps, 0.75, eps);
    EXPECT_NEAR(named(a, "pairs").path_steps, 0.25, eps);
    EXPECT_NEAR(named(a, "fft").path, 0.75 * 79, eps);
    EXPECT_NEAR(named(a, "update").path_steps, 1, eps);
    EXPECT_THAT(a.advice,
                Contains(HasSubstr("The mesh is on the critical path in 75 % of the steps and takes 59 % of the time")));
    ASSERT_EQ(a.beside.size(), 1u);
    EXPECT_EQ(a.beside[0].first, "fft");
    EXPECT_EQ(a.beside[0].second, "pairs");
    EXPECT_NEAR(a.beside[0].us, 0.75 * 59 + 0.25 * 39, eps);
}

TEST(TraceAnalysis, counts_multiprocessors_that_have_a_block)
{
    TracedGpu gpu("GPU 0", kernels);
    for (std::int64_t step = 0; step < 5; ++step)
    {
        gpu.begin(step, 100.0 * static_cast<double>(step));
        gpu.run("pairs", 0, 50, 4);
        gpu.run("update", 50, 100, 1);
        gpu.run("fft", 20, 30, 2); // beside the pairs
    }
    const TraceAnalysis a = analyse(read_back({gpu.timeline()}));
    ASSERT_EQ(a.occupancy.size(), 1u);
    const Occupancy& o = a.occupancy[0];
    EXPECT_EQ(o.multiprocessors, 4u);
    EXPECT_NEAR(o.busy, 0.5 + 0.125, eps);
    ASSERT_EQ(o.kernels.size(), 3u);
    EXPECT_EQ(o.kernels[0].name, "pairs");
    EXPECT_NEAR(o.kernels[0].mean, 0.5, eps);
    EXPECT_NEAR(o.kernels[1].mean, 0.125, eps);
    EXPECT_EQ(o.kernels[2].name, "fft");
    EXPECT_NEAR(o.kernels[2].mean, 0.05, eps);
    ASSERT_GT(o.share.size(), 100u);
    for (std::size_t i = 0; i < o.share.size(); ++i)
    {
        EXPECT_NEAR(o.share[i], i < o.share.size() / 2 ? 1 : 0.25, 1e-6) << i;
        EXPECT_NEAR(o.kernels[0].share[i], i < o.share.size() / 2 ? 1 : 0, 1e-6) << i;
    }
}

TEST(TraceAnalysis, tells_why_steps_are_slow)
{
    TracedRanks ranks(1);
    double at = 0;
    for (std::int64_t step = 0; step < 60; ++step)
    {
        ranks.begin(step, at);
        double t = 0;
        const auto add = [&](Phase phase, double us) {
            ranks.add(0, phase, t, t + us);
            t += us;
        };
        if (step % 10 == 0) { add(Phase::Reorder, 50); }
        add(Phase::Nonbonded, step == 33 ? 190 : 90);
        if (step == 25) { add(Phase::Output, 70); }
        if (step == 28) { add(Phase::PairList, 60); } // pruning
        if (step == 44) { t += 400; }
        add(Phase::Kick, 9);
        at += t + 1;
    }
    const TraceAnalysis a = analyse(ranks.trace());
    std::vector<std::pair<std::int64_t, std::string>> told;
    for (const SlowStep& s : a.slow) { told.emplace_back(s.step, s.cause); }
    EXPECT_THAT(told, testing::ElementsAre(std::pair(44, "outside"), std::pair(33, "slower"), std::pair(25, "output"),
                                           std::pair(28, "pair list"), std::pair(10, "pair list"), std::pair(20, "pair list"),
                                           std::pair(30, "pair list"), std::pair(40, "pair list"), std::pair(50, "pair list")));
    EXPECT_THAT(a.slow[0].text, HasSubstr("rank 0 did nothing before kick for 400 us, 0 us in other steps"));
    EXPECT_THAT(a.slow[1].text, HasSubstr("nonbonded of rank 0 took 190 us, 90 us in other steps"));
    EXPECT_THAT(a.slow[3].text, HasSubstr("pair list of rank 0 took 60 us, which most steps do not have"));
    EXPECT_NEAR(a.slow[0].typical_us, 100, eps);
    EXPECT_EQ(a.repartition.count, 5u);
    EXPECT_NEAR(a.repartition.mean, 150, eps);
    EXPECT_THAT(a.advice, Contains(HasSubstr("2 slow steps cost 7 % of the time; the longest is step 44")));
}

TEST(TraceAnalysis, leaves_out_what_was_not_recorded_and_steps_that_some_did_not_take)
{
    TracedGpu gpu("GPU 0", kernels);
    for (const std::int64_t step : {0, 1, 2, 40, 41, 42, 43})
    {
        gpu.begin(step, 100.0 * static_cast<double>(step));
        gpu.run("pairs", 0, 70);
        gpu.run("update", 75, 95);
    }
    const TraceAnalysis a = analyse(read_back({gpu.timeline()}));
    EXPECT_EQ(a.all.count, 5u);
    EXPECT_NEAR(a.all.max, 100, eps);
    EXPECT_NEAR(on_path(a), 100, eps);
    TracedRanks ranks(2);
    for (std::int64_t step = 0; step < 6; ++step)
    {
        ranks.begin(step, 100.0 * static_cast<double>(step));
        ranks.add(0, Phase::Kick, 0, 50);
        if (step > 1) { ranks.add(1, Phase::Kick, 0, 60); }
    }
    EXPECT_EQ(analyse(ranks.trace()).all.count, 2u) << "3 and 4";
}

TEST(TraceAnalysis, needs_two_steps_that_follow_each_other)
{
    TracedRanks ranks(1);
    for (const std::int64_t step : {0, 1, 3})
    {
        ranks.begin(step, 100.0 * static_cast<double>(step));
        ranks.add(0, Phase::Kick, 0, 50);
    }
    try
    {
        analyse(ranks.trace());
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E198");
    }
    EXPECT_THROW(analyse(read_back({})), InputError);
}
