// SPDX-License-Identifier: Apache-2.0
// The exchange of positions and forces between ranks on GPUs, by itself: very many exchanges of zones of all sizes, blocks and
// ranks that are late, GPUs full of other work, ranks that stop. On one GPU and as many as there are. PARHELION_TEST_EXCHANGES is
// how many exchanges each method makes on each number of GPUs; ten thousand if it is not set.
#include "halo/gpu_halo_ranks.cuh"
#include "support/gpu_test.hpp"
#include "support/number_in.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <iostream>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;
using namespace std::chrono_literals;
using ::testing::MatchesRegex;

namespace {

std::int64_t exchanges_asked() { return number_in<std::int64_t>("PARHELION_TEST_EXCHANGES", 10'000); }

// Every zone has each of these sizes in turn, and some are large: not so large that the waiting kernels of many ranks side by
// side would not fit on one GPU together.
std::vector<ZoneSizes> some_partitions(const HaloLayout& layout)
{
    constexpr int sizes[] = {0, 1, 31, 32, 33, 1000};
    const int large = layout.queues == Queues::OfRanks && layout.ranks() > 4 ? 10'000 : 100'000;
    const int with_large[] = {large, 0, 1000, large, 33, large};
    std::vector<ZoneSizes> partitions;
    for (int k = 0; k < 6; ++k)
    {
        partitions.push_back(zone_sizes(layout, [&](int rank, int zone) { return sizes[(k + 5 * rank + zone) % 6]; }));
    }
    partitions.push_back(zone_sizes(layout, [&](int rank, int zone) { return with_large[(rank + zone) % 6]; }));
    partitions.push_back(zone_sizes(layout, [](int, int) { return 0; }));
    return partitions;
}

// One, two and three dimensions, and two pulses; slabs so thin are what eight GPUs take by themselves for small boxes.
const std::vector<HaloLayout> some_layouts = [] {
    constexpr std::array<std::array<int, 3>, 2> grids[] = {{{{2, 1, 1}, {1, 0, 0}}}, {{{1, 1, 4}, {0, 0, 2}}},
                                                           {{{1, 2, 2}, {0, 1, 1}}}, {{{1, 2, 4}, {0, 1, 2}}},
                                                           {{{8, 1, 1}, {2, 0, 0}}}, {{{2, 2, 2}, {1, 1, 1}}}};
    std::vector<HaloLayout> layouts;
    for (const auto& [grid, pulses] : grids)
    {
        const int ranks = grid[0] * grid[1] * grid[2];
        for (int gpus = 1; gpus <= ranks; gpus *= 2)
        {
            layouts.push_back({grid, pulses, gpus, Queues::OfGpus});
            if (gpus == 1) { layouts.push_back({grid, pulses, gpus, Queues::OfRanks}); }
        }
    }
    return layouts;
}();

std::vector<HaloLayout> layouts_of(const std::array<int, 3>& grid)
{
    std::vector<HaloLayout> layouts;
    std::copy_if(some_layouts.begin(), some_layouts.end(), std::back_inserter(layouts),
                 [&](const HaloLayout& l) { return l.grid == grid; });
    return layouts;
}

// Of one method and number of GPUs.
std::int64_t layouts_with(int gpus)
{
    return std::count_if(some_layouts.begin(), some_layouts.end(), [&](const HaloLayout& l) { return l.gpus == gpus; });
}

using Case = std::tuple<int, HaloLayout>; // number of the method

std::string name_of(const ::testing::TestParamInfo<Case>& info)
{
    const auto& [method, layout] = info.param;
    std::string name = std::string(halo_method_names[static_cast<std::size_t>(method)]) + "_" + test::name_of(layout);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class GpuHaloStress : public ::testing::TestWithParam<Case>
{
protected:
    void SetUp() override { take_gpus(layout().gpus); }
    HaloMethod method() const { return static_cast<HaloMethod>(std::get<0>(GetParam())); }
    const HaloLayout& layout() const { return std::get<1>(GetParam()); }
};

class GpuHaloFaults : public GpuHaloStress
{
protected:
    // Side by side, who waits in vain for somebody who waits in vain may be the first to tell.
    std::string told(const std::string& channel) const
    {
        return layout().gpus == 1 && layout().queues == Queues::OfGpus ? channel : "[a-z ]+";
    }
};

INSTANTIATE_TEST_SUITE_P(All, GpuHaloStress,
                         ::testing::Combine(::testing::Range(0, static_cast<int>(halo_method_names.size())),
                                            ::testing::ValuesIn(some_layouts)),
                         name_of);
const std::vector<HaloLayout> layouts_of_nodes = [] {
    std::vector<HaloLayout> layouts;
    for (HaloLayout layout : some_layouts)
    {
        for (layout.nodes = 2; layout.nodes <= layout.ranks(); layout.nodes *= 2)
        {
            if (layout.gpus <= 2 && layout.ranks() <= 4) { layouts.push_back(layout); }
        }
    }
    return layouts;
}();
const auto on_nodes =
    ::testing::Combine(::testing::Values(static_cast<int>(HaloMethod::StagedFused)), ::testing::ValuesIn(layouts_of_nodes));
INSTANTIATE_TEST_SUITE_P(Nodes, GpuHaloStress, on_nodes, name_of);
INSTANTIATE_TEST_SUITE_P(Nodes, GpuHaloFaults, on_nodes, name_of);

INSTANTIATE_TEST_SUITE_P(Some, GpuHaloFaults,
                         ::testing::Combine(::testing::Range(0, static_cast<int>(halo_method_names.size())),
                                            ::testing::ValuesIn(layouts_of({1, 1, 4}))),
                         name_of);

// Steps of two exchanges, but the first of one, in graphs of some steps after each repartition.
struct Share
{
    int steps, times;
    std::int64_t exchanges;
};
Share share_of(std::int64_t exchanges, std::size_t partitions)
{
    constexpr int steps = 8;
    const std::int64_t of_graph = (2 * steps - 1) * static_cast<std::int64_t>(partitions);
    const std::int64_t times = std::max<std::int64_t>(1, (exchanges + of_graph - 1) / of_graph);
    return {steps, static_cast<int>(times), times * of_graph};
}

} // namespace

TEST_P(GpuHaloStress, brings_every_position_and_force_whatever_the_delays)
{
    const std::vector<ZoneSizes> partitions = some_partitions(layout());
    GpuHaloRanks<Mixed> ranks(layout(), method(), partitions);
    const Share share = share_of(exchanges_asked() / layouts_with(layout().gpus), partitions.size());
    const auto begin = std::chrono::steady_clock::now();
    ranks.run(share.steps, share.times);
    ranks.run(1, share.times); // most of which is repartitions; forces follow forces
    const auto exchanges = share.exchanges + share.times * static_cast<std::int64_t>(partitions.size());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_NO_THROW(ranks.world().check());
    EXPECT_EQ(ranks.errors(), HaloErrors{});
    std::cout << exchanges << " exchanges in " << took.count() << " s\n";
}

TEST_P(GpuHaloStress, is_done_as_well_by_the_kernel_that_moves_atoms)
{
    if (method() != HaloMethod::Direct) { GTEST_SKIP() << "not by this method"; }
    const std::vector<ZoneSizes> partitions = some_partitions(layout());
    GpuHaloRanks<Mixed> ranks(layout(), method(), partitions);
    ranks.let_moves_exchange();
    const Share share = share_of(exchanges_asked() / layouts_with(layout().gpus), partitions.size());
    ranks.run(share.steps, share.times);
    EXPECT_NO_THROW(ranks.world().check());
    EXPECT_EQ(ranks.errors(), HaloErrors{});
}

TEST_P(GpuHaloStress, is_done_as_well_by_a_kernel_that_moves_atoms_while_forces_are_being_sent)
{
    if (method() != HaloMethod::Direct) { GTEST_SKIP() << "not by this method"; }
    if (layout().queues == Queues::OfGpus && layout().gpus < layout().ranks()) { GTEST_SKIP() << "ranks share a queue"; }
    const std::vector<ZoneSizes> partitions = some_partitions(layout());
    GpuHaloRanks<Mixed> ranks(layout(), method(), partitions);
    ranks.let_moves_begin_early();
    const Share share = share_of(exchanges_asked() / layouts_with(layout().gpus), partitions.size());
    ranks.run(share.steps, share.times);
    EXPECT_NO_THROW(ranks.world().check());
    EXPECT_EQ(ranks.errors(), HaloErrors{});
}

TEST_P(GpuHaloStress, goes_on_beside_kernels_that_fill_the_gpu)
{
    const std::vector<ZoneSizes> partitions = some_partitions(layout());
    GpuHaloRanks<Mixed> ranks(layout(), method(), partitions);
    ranks.occupy_gpus_for(1ms);
    const Share share = share_of(exchanges_asked() / 20 / layouts_with(layout().gpus), partitions.size());
    ranks.run(share.steps, share.times);
    EXPECT_NO_THROW(ranks.world().check());
    EXPECT_EQ(ranks.errors(), HaloErrors{});
}

namespace {

constexpr auto fault_deadline = 200ms;

// How it ends after some exchanges. Where the host takes part, it tells while it is at it.
std::string failure_of(GpuHaloRanks<Mixed>& ranks)
{
    try
    {
        ranks.run(3, 2);
        ranks.world().check();
    }
    catch (const CommError& e)
    {
        return e.what();
    }
    return "";
}

GpuWorldOptions options_with(std::chrono::nanoseconds deadline)
{
    GpuWorldOptions options;
    options.deadline = deadline;
    options.tag_name = "step";
    return options;
}

std::string timed_out(const std::string& channel)
{
    return "Rank [0-9] timed out after 0\\.2 s waiting for a message from rank [0-9]: channel '" + channel +
           "(, pulse [0-9]+)?', epoch expected [0-9]+, seen [0-9]+, credit 0, in step -1\\.";
}

std::vector<ZoneSizes> small_partitions(const HaloLayout& layout)
{
    return {zone_sizes(layout, [](int rank, int zone) { return 100 + 10 * rank + zone; })};
}

} // namespace

TEST_P(GpuHaloFaults, of_a_rank_that_no_longer_sends_are_told_within_the_deadline)
{
    using Ranks = GpuHaloRanks<Mixed>;
    const std::pair<Ranks::Silence, const char*> kinds[] = {{Ranks::Silence::Positions, "halo coordinates"},
                                                            {Ranks::Silence::Forces, "halo forces"}};
    for (const auto& [silence, channel] : kinds)
    {
        SCOPED_TRACE(channel);
        Ranks ranks(layout(), method(), small_partitions(layout()), options_with(fault_deadline));
        if (!ranks.is_captured()) { GTEST_SKIP() << "the host would have to stop"; }
        EXPECT_EQ(failure_of(ranks), "");
        EXPECT_EQ(ranks.errors(), HaloErrors{});
        ranks.silence(1, silence);
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_THAT(failure_of(ranks), MatchesRegex(timed_out(told(channel))));
        EXPECT_LT(std::chrono::steady_clock::now() - begin, fault_deadline + 5s);
    }
}

TEST_P(GpuHaloFaults, of_a_rank_whose_wishes_get_lost_are_told_within_the_deadline)
{
    GpuWorldOptions options = options_with(fault_deadline);
    options.hooks.loses = [](const std::string& label, int source) { return label.starts_with("halo plan") && source == 1; };
    GpuHaloRanks<Mixed> ranks(layout(), method(), small_partitions(layout()), options);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(failure_of(ranks), MatchesRegex(timed_out(told("halo plan"))));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, fault_deadline + 5s);
}

TEST_P(GpuHaloFaults, of_a_rank_that_is_stuck_are_told_within_the_deadline)
{
    const bool others_wait = layout().queues == Queues::OfRanks || layout().gpus > 1;
    GpuHaloRanks<Mixed> ranks(layout(), method(), small_partitions(layout()), options_with(fault_deadline));
    if (!others_wait || !ranks.is_captured()) { GTEST_SKIP() << "who is stuck here holds up all others, who then do not wait"; }
    EXPECT_EQ(failure_of(ranks), "");
    const auto begin = std::chrono::steady_clock::now();
    ranks.stall(1, 1500ms);
    EXPECT_THAT(failure_of(ranks), MatchesRegex(timed_out("repartition")));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1500ms + 5s);
}

namespace {

template <class N>
class GpuHaloIn : public ::testing::Test
{
protected:
    void SetUp() override { take_gpus(1, 2); }
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(GpuHaloIn, Policies);

} // namespace

TYPED_TEST(GpuHaloIn, every_policy_brings_every_position_and_force)
{
    const HaloLayout layouts[] = {{{1, 1, 4}, {0, 0, 2}, 1, Queues::OfGpus}, {{1, 1, 2}, {0, 0, 1}, 2, Queues::OfGpus}};
    for (const HaloLayout& layout : layouts)
    {
        if (layout.gpus > gpu_count()) { break; }
        for (std::size_t method = 0; method < halo_method_names.size(); ++method)
        {
            SCOPED_TRACE(testing::Message() << halo_method_names[method] << ", " << layout.gpus << " GPU(s)");
            const std::vector<ZoneSizes> all = some_partitions(layout); // small ones, for tools that watch every access
            GpuHaloRanks<TypeParam> ranks(layout, static_cast<HaloMethod>(method), {all.begin(), all.begin() + 3});
            ranks.run(2, 1);
            EXPECT_NO_THROW(ranks.world().check());
            EXPECT_EQ(ranks.errors(), HaloErrors{});
        }
    }
}
