// SPDX-License-Identifier: Apache-2.0
// How a run is cut into what a GPU is given at once, for many list and output intervals, lengths of runs and of segments; and how
// long segments get, whatever keeps the host from looking.
#include "engine/segment.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>

using namespace parhelion;
using namespace std::chrono_literals;

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

namespace {

// A GPU that takes as long for every step, and a host that queues two segments ahead of what it has seen done.
class PacedRun
{
public:
    explicit PacedRun(std::chrono::nanoseconds of_step) : of_step_(of_step) {}

    // The host takes so long to queue a segment, and so long for what it does then.
    void segment(std::chrono::nanoseconds queueing, std::chrono::nanoseconds afterwards = 0ns)
    {
        while (under_way_.size() == 2) { complete_oldest(); }
        UnderWay next;
        next.segment.flags.resize(static_cast<std::size_t>(pace_.steps()));
        next.segment.queued = now_;
        now_ += queueing;
        next.done = std::max(now_, gpu_is_free_) + pace_.steps() * of_step_;
        gpu_is_free_ = next.done;
        under_way_.push_back(std::move(next));
        now_ += afterwards;
    }
    std::chrono::nanoseconds next() const { return pace_.steps() * of_step_; } // how long it will take the GPU

private:
    struct UnderWay
    {
        Segment segment;
        Segment::Time done;
    };
    void complete_oldest()
    {
        const bool is_late = under_way_.front().done <= now_;
        now_ = std::max(now_, under_way_.front().done);
        pace_.completed(under_way_.front().segment, now_, is_late);
        under_way_.pop_front();
    }

    std::chrono::nanoseconds of_step_;
    SegmentPace pace_;
    Segment::Time now_{1h}, gpu_is_free_{1h};
    std::deque<UnderWay> under_way_;
};

} // namespace

TEST(SegmentPace, makes_segments_last_ten_milliseconds)
{
    for (const auto of_step : {20us, 50us, 700us})
    {
        PacedRun run(of_step);
        for (int k = 0; k < 10; ++k) { run.segment(100us); }
        for (int k = 0; k < 10; ++k)
        {
            run.segment(100us);
            EXPECT_NEAR(run.next() / 1us, 10'000, 700);
        }
    }
}

TEST(SegmentPace, makes_no_segment_long_because_the_host_has_come_late)
{
    for (const auto delay : {5ms, 15ms, 19ms, 25ms, 100ms})
    {
        PacedRun run(50us);
        for (int k = 0; k < 10; ++k) { run.segment(100us); }
        for (int k = 0; k < 10; ++k)
        {
            run.segment(100us, k == 0 ? delay : 0ns);
            EXPECT_LE(run.next(), 11ms);
        }
        EXPECT_NEAR(run.next() / 1us, 10'000, 100);
    }
}

TEST(SegmentPace, gets_going_where_the_host_takes_longer_to_queue_a_step_than_the_gpu_to_do_it)
{
    PacedRun run(20us);
    for (int k = 0; k < 20; ++k) { run.segment(1ms); }
    EXPECT_GT(run.next(), 8ms);
}
