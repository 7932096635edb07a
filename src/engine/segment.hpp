// SPDX-License-Identifier: Apache-2.0
// How a run is cut into segments: what a GPU is given at once, of one list interval or many.
//
// The idea: a segment costs the host a snapshot, a copy of the flags and a sleep, whatever its length, so it should last some
// milliseconds. It can be done again from the snapshot at its beginning. So a segment of several intervals begins and ends where
// a list is built, as does everything that a checkpoint may go on from. If the last interval of a run is not whole, it is a
// segment of its own. A segment holds one frame at most. Cost: the flags of its steps.
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

    std::int64_t first = 0;           // step
    std::vector<StepFlags> flags;     // by step
    std::optional<std::size_t> frame; // which of its steps is due for one
    bool ends_interval = false;       // the step after it builds a list

    // Given when it is queued.
    std::int64_t first_record = 0;
    std::size_t place = 0; // where its flags and its frame arrive
    Time queued;

    bool begins_interval() const { return flags.front().repartition; }
    std::int64_t end() const { return first + static_cast<std::int64_t>(flags.size()); }
};

// The steps from `first` on: as few whole intervals as have `steps` steps, or fewer if more than one frame or the end of the run
// would be in them. `run_first` and `last` are those of the run; its first step builds a list.
Segment next_segment(const Schedule& schedule, std::int64_t first, std::int64_t steps, std::int64_t run_first, std::int64_t last);

// How many steps a segment has, by how long those before took a GPU that does one after another.
class SegmentPace
{
public:
    static constexpr std::int64_t most_steps = 1000;

    std::int64_t steps() const { return steps_; } // at first one interval's
    // The host knows now. If it comes late, the GPU has been at the next segment for an unknown time.
    void completed(const Segment& segment, Segment::Time now, bool is_late);

private:
    std::int64_t steps_ = 1;
    Segment::Time last_completed_; // and known at once
};

// The parts of a segment that begin with a new list, and what may be before the first.
std::vector<std::span<const StepFlags>> intervals_of(const Segment& segment);

// The same steps in segments of one interval.
std::vector<Segment> cut_into_intervals(const Segment& segment);

} // namespace parhelion
