// SPDX-License-Identifier: Apache-2.0
// Cuts a run into segments. A segment is the work that is queued on a GPU at once: one list interval or several.
//
// The idea: a segment of any length costs the host a snapshot, a copy of the flags and a sleep. It should therefore
// last some milliseconds. It can be repeated from the snapshot at its beginning. A segment of several intervals
// begins and ends where a list is built, as do the states of checkpoints. If the last interval of a run is not
// whole, it is a segment of its own. A segment holds one frame at most. Cost: memory for the flags of its steps.
#pragma once

#include "engine/schedule.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace parhelion {

struct Segment
{
    using Time = std::chrono::steady_clock::time_point;

    std::int64_t first = 0;           // first step of the segment
    std::vector<StepFlags> flags;     // flags of each step
    std::optional<std::size_t> frame; // index of the step with a frame
    bool ends_interval = false;       // true if the step after the segment builds a list

    // These members are set when the segment is queued.
    std::int64_t first_record = 0;
    std::size_t place = 0; // index of the memory that receives its flags and frame
    Time queued;

    bool begins_interval() const { return flags.front().repartition; }
    std::int64_t end() const { return first + static_cast<std::int64_t>(flags.size()); }
};

// Returns the segment that begins at step `first`. It has the fewest whole intervals that make `steps` steps, or fewer if these
// would hold more than one frame or the run's end. run_first and `last`: first and last step of the run; run_first builds a list.
Segment next_segment(const Schedule& schedule, std::int64_t first, std::int64_t steps, std::int64_t run_first, std::int64_t last);

// Chooses the number of steps of a segment from the GPU's time for earlier segments. The GPU runs one segment at a time.
class SegmentPace
{
public:
    static constexpr std::int64_t most_steps = 1000;

    std::int64_t steps() const { return steps_; } // at first the steps of one interval
    // Call it when the host notices a segment's end. is_late: it noticed late; the next segment has run for an unknown time.
    void completed(const Segment& segment, Segment::Time now, bool is_late);

private:
    std::int64_t steps_ = 1;
    Segment::Time last_completed_; // set only if the host noticed the end at once
};

// Returns the parts of a segment that each begin with a new list, and before them the steps before the first list, if any.
std::vector<std::span<const StepFlags>> intervals_of(const Segment& segment);

// Returns the steps of a segment as several segments of one list interval each.
std::vector<Segment> cut_into_intervals(const Segment& segment);

} // namespace parhelion
