// SPDX-License-Identifier: Apache-2.0
// The segments of a run that its GPUs are working on: queued in order, waited for in order, or taken back.
//
// The idea: two are under way at any time, so the GPU never waits for the host. The state is set aside at each list interval that
// begins a segment, unless a flag is up. So the run can go back to the beginning of the oldest segment that failed. A frame is
// copied to pinned memory on a queue of its own, beside the steps that follow. Cost: for a segment a launch, a copy of the flags
// and a sleep; two snapshots on the device, three frames in pinned memory.
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
    // Observed steps that a run of this list interval may have under way, at most.
    static std::size_t most_records(int list_interval)
    {
        return places * static_cast<std::size_t>(SegmentPace::most_steps + list_interval);
    }

    // Of a run whose state is that of `step`. With a trace, one list interval in four leaves records.
    GpuSegments(GpuRanks<N>& ranks, const RunSetup& setup, int list_interval, bool keeps_trace, std::int64_t step);

    bool is_empty() const { return under_way_.empty(); }
    bool is_full() const { return under_way_.size() >= at_once; }
    Segment& oldest() { return under_way_.front(); }    // whose flags may be changed before it is taken back
    std::int64_t step() const { return step_; }         // of the state, once everything queued is done
    std::int64_t pace() const { return pace_.steps(); } // how many steps the next segment should have
    void profile(bool on) { is_profiled_ = on; }        // what is queued now leaves records, trace or not

    // Queues its steps. One that does not begin with a list goes on from the one before.
    void submit(Segment segment);
    // Waits for the oldest. The flags that its steps have raised, of all ranks; 0: it is good.
    std::uint32_t wait_for_oldest();
    // The oldest, which has been waited for and is good, and what it has left: valid until two more have been submitted.
    struct Completed
    {
        Segment segment;
        const DeviceScalars& scalars;
        const HostSnapshot<N>& frame;
    };
    Completed take_oldest();
    void wait_for_all();
    // Waits for all, puts the state back to where the oldest began, and gives them up.
    std::deque<Segment> take_back();
    // Waits for all and forgets them.
    void drop();

    // Of the state as it is when all that is queued is done, unless a flag is up: as of the last repartition, or by itself.
    void keep_last_repartition() { ranks_.keep_state(at_repartition_); }
    const GpuSnapshot<N>& keep_now()
    {
        ranks_.keep_state(aside_);
        return aside_;
    }
    const GpuSnapshot<N>& at_repartition() const { return at_repartition_; }
    // Submits a step at the present state, and takes it back when complete() says that it has been completed; else leaves the
    // state as it is. After a GridError from complete() the last repartition is the one before. Returns what complete() does.
    template <class Complete>
    bool try_step(const StepFlags& flags, Complete&& complete);

private:
    static constexpr std::size_t places = at_once + 1; // one is read while two are under way

    bool is_recorded(std::int64_t list_begin) const;
    void copy_frame(const Segment& segment);

    GpuRanks<N>& ranks_;
    const std::int64_t first_step_; // of the run
    const int list_interval_;
    const bool keeps_trace_;
    bool is_profiled_ = false;
    GpuQueue copies_; // on the first GPU

    std::int64_t step_, list_begin_; // when the list was built that is in use then
    std::deque<Segment> under_way_;
    SegmentPace pace_;
    bool is_late_ = false;      // the host, for the segment it has waited for last
    std::size_t submitted_ = 0; // segments so far
    std::int64_t records_ = 0;  // observed steps queued so far
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
    submit(std::move(segment)); // sets the state aside
    try
    {
        if (!complete()) { return false; }
    }
    catch (const GridError&)
    {
        std::swap(at_repartition_, aside_); // what a checkpoint is made of now must be what progress() has told of
        throw;
    }
    ranks_.put_back(at_repartition_);
    std::swap(at_repartition_, aside_);
    step_ = here, list_begin_ = list_begin;
    return true;
}

} // namespace parhelion
