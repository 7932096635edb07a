// SPDX-License-Identifier: Apache-2.0
// How a run is cut into what a GPU is given at once, for many list and output intervals, lengths of runs and of segments.
#include "engine/segment.hpp"

#include <gtest/gtest.h>

#include <numeric>

using namespace parhelion;

namespace {

struct RunPlan
{
    std::int64_t first = 0, last = 0;
    int list_interval = 1;
    RunParameters parameters;
    Schedule schedule() const { return Schedule(parameters, list_interval, 0, last); }
    bool builds_list(std::int64_t step) const { return step == first || schedule().flags(step).repartition; }
};

RunPlan run_of(std::int64_t first, std::int64_t last, int list_interval, int frame_interval)
{
    RunPlan run{first, last, list_interval, {}};
    run.parameters.compressed_out = frame_interval;
    run.parameters.energy_calc = 10;
    return run;
}

std::vector<Segment> segments_of(const RunPlan& run, std::int64_t steps)
{
    std::vector<Segment> segments;
    for (std::int64_t step = run.first; step < run.last; step = segments.back().end())
    {
        segments.push_back(next_segment(run.schedule(), step, steps, run.first, run.last));
    }
    return segments;
}

void expect_right(const Segment& s, const RunPlan& run)
{
    const std::size_t intervals = intervals_of(s).size();
    ASSERT_FALSE(s.flags.empty());
    std::size_t frames = 0, lists = 0;
    for (std::size_t i = 0; i < s.flags.size(); ++i)
    {
        const std::int64_t step = s.first + static_cast<std::int64_t>(i);
        EXPECT_EQ(s.flags[i].repartition, run.builds_list(step));
        EXPECT_EQ(s.flags[i].observe, run.schedule().flags(step).observe);
        lists += s.flags[i].repartition ? 1 : 0;
        if (!s.flags[i].due.any_frame()) { continue; }
        ++frames;
        EXPECT_EQ(s.frame, i);
    }
    EXPECT_LE(frames, 1u);
    EXPECT_EQ(s.frame.has_value(), frames == 1);
    EXPECT_EQ(s.ends_interval, run.builds_list(s.end()));
    EXPECT_EQ(intervals, std::max<std::size_t>(lists, 1));
    if (intervals > 1) { EXPECT_TRUE(s.begins_interval() && s.ends_interval); }
}

} // namespace

TEST(Segments, hold_every_step_once_and_begin_and_end_where_lists_are_built)
{
    for (const int list : {1, 4, 12, 25})
    {
        for (const int frames : {0, 1, 3, 7, 50, 100})
        {
            for (const std::int64_t first : {0, 13, 48})
            {
                for (const std::int64_t last : {49, 101, 300})
                {
                    for (const std::int64_t steps : {1, 20, 120, 1000})
                    {
                        SCOPED_TRACE(testing::Message() << "list " << list << ", frames " << frames << ", from " << first
                                                        << " to " << last << ", " << steps << " a segment");
                        const RunPlan run = run_of(first, last, list, frames);
                        std::int64_t next = first;
                        for (const Segment& s : segments_of(run, steps))
                        {
                            EXPECT_EQ(s.first, next);
                            next = s.end();
                            expect_right(s, run);
                        }
                        EXPECT_EQ(next, last);
                    }
                }
            }
        }
    }
}

TEST(Segments, are_as_long_as_asked_for_to_the_next_list)
{
    const std::vector<Segment> segments = segments_of(run_of(0, 1200, 12, 0), 100);
    for (const Segment& s : segments) { EXPECT_LE(s.flags.size(), 108u); }
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) { EXPECT_EQ(segments[i].flags.size(), 108u); }
}

TEST(Segments, of_a_run_that_ends_within_an_interval_leave_that_interval_to_the_last)
{
    const std::vector<Segment> segments = segments_of(run_of(0, 47, 12, 0), 1000);
    ASSERT_EQ(segments.size(), 2u);
    EXPECT_EQ(segments[0].end(), 36);
    EXPECT_FALSE(segments[1].ends_interval);
}

TEST(Segments, with_frames_further_apart_than_lists_are_never_cut_within_an_interval)
{
    for (const Segment& s : segments_of(run_of(0, 1200, 12, 50), 1000)) { EXPECT_TRUE(s.begins_interval() && s.ends_interval); }
}

TEST(Segments, can_be_done_again_interval_by_interval)
{
    for (const int frames : {0, 3, 50})
    {
        const RunPlan run = run_of(0, 301, 12, frames);
        for (const Segment& whole : segments_of(run, 100))
        {
            std::int64_t next = whole.first;
            for (const Segment& part : cut_into_intervals(whole))
            {
                EXPECT_EQ(part.first, next);
                next = part.end();
                EXPECT_EQ(intervals_of(part).size(), 1u);
                expect_right(part, run);
            }
            EXPECT_EQ(next, whole.end());
        }
    }
}
