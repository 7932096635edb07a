// SPDX-License-Identifier: Apache-2.0
#include "engine/segment.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// The time of a segment. It is so long that sleeps and launches do not matter, and so short that a user's stop acts at once.
constexpr double segment_seconds = 0.01;

void shorten(Segment& segment, std::size_t steps)
{
    segment.flags.resize(steps);
    if (segment.frame && *segment.frame >= steps) { segment.frame.reset(); }
}

} // namespace

Segment next_segment(const Schedule& schedule, std::int64_t first, std::int64_t steps, std::int64_t run_first, std::int64_t last)
{
    PARHELION_EXPECTS(first < last);
    Segment segment;
    segment.first = first;
    const auto flags_of = [&](std::int64_t step) {
        StepFlags flags = schedule.flags(step);
        flags.repartition |= step == run_first;
        return flags;
    };
    std::size_t whole = 0; // number of steps in complete intervals so far
    for (std::int64_t step = first; step < last; ++step)
    {
        const StepFlags flags = flags_of(step);
        if (flags.repartition && step > first)
        {
            whole = segment.flags.size();
            const bool next_is_whole = step + schedule.list_interval() <= last;
            if (!segment.begins_interval() || step - first >= steps || !next_is_whole) { break; }
        }
        if (flags.due.any_frame())
        {
            if (segment.frame)
            {
                if (whole > 0) { shorten(segment, whole); }
                break;
            }
            segment.frame = segment.flags.size();
        }
        segment.flags.push_back(flags);
    }
    segment.ends_interval = flags_of(segment.end()).repartition;
    return segment;
}

// Measures the pace of the GPU. If the begin of the segment is unknown, the earliest possible time is used. Otherwise, if the
// host notices the ends of two segments late, the second would seem to take no time.
void SegmentPace::completed(const Segment& segment, Segment::Time now, bool is_late)
{
    const double took = std::chrono::duration<double>(now - std::max(segment.queued, last_completed_)).count();
    const double steps = segment_seconds / took * static_cast<double>(segment.flags.size());
    steps_ = static_cast<std::int64_t>(std::clamp(steps, 1.0, static_cast<double>(most_steps)));
    if (!is_late) { last_completed_ = now; }
}

std::vector<std::span<const StepFlags>> intervals_of(const Segment& segment)
{
    std::vector<std::span<const StepFlags>> intervals;
    const std::span<const StepFlags> all(segment.flags);
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= all.size(); ++i)
    {
        if (i < all.size() && !all[i].repartition) { continue; }
        intervals.push_back(all.subspan(begin, i - begin));
        begin = i;
    }
    return intervals;
}

std::vector<Segment> cut_into_intervals(const Segment& segment)
{
    std::vector<Segment> parts;
    std::int64_t first = segment.first;
    for (const std::span<const StepFlags> interval : intervals_of(segment))
    {
        Segment part;
        part.first = first;
        part.flags.assign(interval.begin(), interval.end());
        for (std::size_t i = 0; i < interval.size(); ++i)
        {
            if (interval[i].due.any_frame()) { part.frame = i; }
        }
        first = part.end();
        part.ends_interval = first < segment.end() || segment.ends_interval;
        parts.push_back(std::move(part));
    }
    return parts;
}

} // namespace parhelion
