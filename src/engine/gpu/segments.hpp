// SPDX-License-Identifier: Apache-2.0
// The segments in flight on the GPUs of a run. They are queued in order, and waited for in order or taken back.
//
// The idea: two segments are in flight at any time, so the GPU never waits for the host. A snapshot of the state is taken at
// each list interval that begins a segment, unless a flag is raised. After a failure the run can thus go back to the beginning
// of the oldest failed segment. A frame is copied to pinned memory on a queue of its own, beside the next steps. Cost per
// segment: a launch, a copy of the flags and a sleep. Memory: two snapshots on the device, three frames in pinned memory.
#pragma once

#include "base/error.hpp"
#include "engine/gpu/frame.hpp"
#include "engine/gpu/ranks.hpp"
#include "engine/segment.hpp"

#include <array>
#include <deque>

namespace parhelion {

template <class N>
class GpuSegments
{
public:
    static constexpr std::size_t at_once = 2;
    // Returns the largest number of observed steps that a run with this list interval has in flight.
    static std::size_t most_records(int list_interval)
    {
        return places * static_cast<std::size_t>(SegmentPace::most_steps + list_interval);
    }

    // `step` is the step of the current state. If keeps_trace, one list interval in four leaves records of its thread blocks.
    GpuSegments(GpuRanks<N>& ranks, const RunSetup& setup, int list_interval, bool keeps_trace, std::int64_t step);

    bool is_empty() const { return under_way_.empty(); }
    bool is_full() const { return under_way_.size() >= at_once; }
    const Segment& oldest() const { return under_way_.front(); }
    Segment& oldest() { return under_way_.front(); }    // the oldest segment in flight; flags may be changed before take_back()
    std::int64_t step() const { return step_; }         // step of the state after all queued work
    std::int64_t pace() const { return pace_.steps(); } // recommended number of steps of the next segment
    void profile(bool on) { is_profiled_ = on; }        // on: steps queued from now on leave records, even without a trace

    // Queues the steps of a segment. A segment that does not begin with a list continues the segment before it.
    void submit(Segment segment);
    // Waits for the oldest segment. Returns the flags that its steps have raised on any rank, or 0 if it has not failed.
    std::uint32_t wait_for_oldest();
    // The oldest segment and its output, after it has succeeded. The output is valid until two more segments are submitted.
    struct Completed
    {
        Segment segment;
        const DeviceScalars& scalars;
        const HostSnapshot<N>& frame;
    };
    Completed take_oldest();
    void wait_for_all();
    // Waits for all segments, restores the state at the beginning of the oldest one, and returns all of them for repetition.
    std::deque<Segment> take_back();
    // Counts steps that were made without segments. Precondition: no segment is in flight.
    void pass_over(std::int64_t steps);
    // Waits for all segments and discards them.
    void drop();

    // Queue a snapshot of the state after all queued work, unless a flag is raised: at_repartition(), or a separate snapshot.
    void keep_last_repartition() { ranks_.keep_state(at_repartition_); }
    const GpuSnapshot<N>& keep_now()
    {
        ranks_.keep_state(aside_);
        return aside_;
    }
    const GpuSnapshot<N>& at_repartition() const { return at_repartition_; }
    // Submits a step from the present state and returns the result of complete(). True: the step is undone. False:
    // the state stays after the step. After a GridError from complete() the earlier last repartition is restored.
    template <class Complete>
    bool try_step(const StepFlags& flags, Complete&& complete);

private:
    static constexpr std::size_t places = at_once + 1; // one place is read while two are in flight

    bool is_recorded(std::int64_t list_begin) const;
    void copy_frame(const Segment& segment);

    GpuRanks<N>& ranks_;
    const std::int64_t first_step_; // first step of the run
    const int list_interval_;
    const bool keeps_trace_;
    bool is_profiled_ = false;
    GpuQueue copies_; // queue for copies from the first GPU

    std::int64_t step_, list_begin_; // list_begin_: the step that built the list in use at step_
    std::deque<Segment> under_way_;
    SegmentPace pace_;
    bool is_late_ = false;      // the host was late for the last segment that it waited for
    std::size_t submitted_ = 0; // number of segments submitted so far
    std::int64_t records_ = 0;  // number of observed steps queued so far
    GpuSnapshot<N> at_repartition_, aside_;

    PinnedBuffer<DeviceScalars> status_{places};
    std::array<HostSnapshot<N>, places> frames_;
    std::array<GpuEvent, places> done_;
    GpuEvent frame_taken_, frame_copied_;
};

template <class N>
template <class Complete>
bool GpuSegments<N>::try_step(const StepFlags& flags, Complete&& complete)
{
    PARHELION_EXPECTS(flags.repartition && is_empty());
    const std::int64_t here = step_, list_begin = list_begin_;
    Segment segment;
    segment.first = step_;
    segment.flags = {flags};
    if (flags.due.any_frame()) { segment.frame = 0; }
    std::swap(at_repartition_, aside_);
    submit(std::move(segment)); // submit() also takes a snapshot
    try
    {
        if (!complete()) { return false; }
    }
    catch (const GridError&)
    {
        std::swap(at_repartition_, aside_); // checkpoints must have the steps that progress() has reported
        throw;
    }
    ranks_.put_back(at_repartition_);
    std::swap(at_repartition_, aside_);
    step_ = here, list_begin_ = list_begin;
    return true;
}

} // namespace parhelion
