// SPDX-License-Identifier: Apache-2.0
// Timelines of GPUs whose clocks differ are shifted, to within the time that messages take; others are not.
#include "trace/align_clocks.hpp"

#include "trace/phases.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

namespace {

constexpr std::uint64_t step_ns = 60'000;

// Steps of a pair kernel, which lasts `pairs_ns`, and of an update, which waits for the update of the slower GPU and ends
// `message_ns` later. All times are `ahead_ns` later than they are.
Timeline of_gpu(std::uint64_t pairs_ns, std::uint64_t slowest_ns, std::uint64_t message_ns, std::uint64_t ahead_ns)
{
    Timeline timeline;
    timeline.tracks.assign(phase_names.begin(), phase_names.end());
    timeline.names = {"pair_kernel", "update_kernel"};
    for (std::uint64_t step = 0; step < 20; ++step)
    {
        const std::uint64_t t = 1'000'000 + ahead_ns + step * step_ns;
        const auto number = static_cast<std::int64_t>(step);
        timeline.spans.push_back({t, t + pairs_ns, number, static_cast<std::size_t>(Phase::Nonbonded), 0});
        timeline.spans.push_back(
            {t + pairs_ns, t + slowest_ns + message_ns, number, static_cast<std::size_t>(Phase::Constrain), 1});
    }
    return timeline;
}

void expect_shifted(std::uint64_t ahead_ns, std::uint64_t expected_ns)
{
    std::vector<Timeline> timelines = {of_gpu(50'000, 50'000, 8'000, 0), of_gpu(20'000, 50'000, 9'000, ahead_ns)};
    const std::vector<Timeline> before = timelines;
    align_clocks(timelines);
    for (std::size_t t = 0; t < 2; ++t)
    {
        for (std::size_t s = 0; s < before[t].spans.size(); ++s)
        {
            const std::uint64_t shift = t == 0 ? 0 : expected_ns;
            EXPECT_EQ(timelines[t].spans[s].begin, before[t].spans[s].begin - shift);
            EXPECT_EQ(timelines[t].spans[s].end, before[t].spans[s].end - shift);
        }
    }
}

} // namespace

TEST(AlignClocks, shifts_a_gpu_whose_clock_is_ahead_by_nine_steps)
{
    expect_shifted(537'000, 538'000); // the waits of the second GPU end 1 us later
}

TEST(AlignClocks, leaves_clocks_alone_that_may_agree)
{
    expect_shifted(0, 0);
    expect_shifted(3'000, 0);
}

TEST(AlignClocks, leaves_timelines_without_common_steps_alone)
{
    std::vector<Timeline> timelines = {of_gpu(50'000, 50'000, 8'000, 0), of_gpu(20'000, 50'000, 8'000, 0)};
    for (Timeline::Span& span : timelines[1].spans) { span.step += 100; }
    const std::uint64_t begin = timelines[1].spans[0].begin;
    align_clocks(timelines);
    EXPECT_EQ(timelines[1].spans[0].begin, begin);
}
