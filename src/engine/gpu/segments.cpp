// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/segments.hpp"

#include <utility>

namespace parhelion {

namespace {

// In a run that keeps a trace, one list interval in this many leaves records of its blocks, because recording takes time.
constexpr std::int64_t intervals_to_a_recorded_one = 4;

} // namespace

template <class N>
GpuSegments<N>::GpuSegments(GpuRanks<N>& ranks, const RunSetup& setup, int list_interval, bool keeps_trace, std::int64_t step)
    : ranks_(ranks), first_step_(setup.first_step), list_interval_(list_interval), keeps_trace_(keeps_trace),
      copies_(ranks.queue().device()), step_(step), list_begin_(0)
{
    for (GpuSnapshot<N>* snapshot : {&at_repartition_, &aside_})
    {
        snapshot->resize(ranks_.queue(), static_cast<std::size_t>(setup.system.topology.atom_count()),
                         ranks_.coupling().group_count());
    }
}

template <class N>
void GpuSegments<N>::submit(Segment segment)
{
    segment.queued = Segment::Time::clock::now();
    segment.place = submitted_++ % places;
    segment.first_record = records_;
    for (const StepFlags& flags : segment.flags) { records_ += flags.observe ? 1 : 0; }

    if (segment.begins_interval()) { keep_last_repartition(); }
    if (segment.frame) { wait_for(ranks_.queue(), frame_copied_); } // this segment overwrites the frame of an older one
    std::int64_t step = segment.first;
    for (const std::span<const StepFlags> interval : intervals_of(segment))
    {
        if (interval.front().repartition) { list_begin_ = step; }
        ranks_.set_tracing(is_profiled_ || is_recorded(list_begin_));
        ranks_.replay(step - list_begin_, interval);
        step += static_cast<std::int64_t>(interval.size());
    }
    ranks_.report(status_[segment.place]);
    if (segment.frame) { copy_frame(segment); }
    done_[segment.place].record(segment.frame ? copies_ : ranks_.queue());
    step_ = segment.end();
    under_way_.push_back(std::move(segment));
}

// Returns true if a list interval leaves records. It depends on the step alone, so a repeated segment leaves the same records.
template <class N>
bool GpuSegments<N>::is_recorded(std::int64_t list_begin) const
{
    const std::int64_t interval = (list_begin - first_step_) / list_interval_;
    return keeps_trace_ && interval % intervals_to_a_recorded_one == 0;
}

template <class N>
void GpuSegments<N>::copy_frame(const Segment& segment)
{
    frame_taken_.record(ranks_.queue());
    wait_for(copies_, frame_taken_);
    copy_to_host(copies_, ranks_.framed(), ranks_.framed_forces(), segment.flags[*segment.frame].due, frames_[segment.place]);
    frame_copied_.record(copies_);
}

template <class N>
std::uint32_t GpuSegments<N>::wait_for_oldest()
{
    const std::size_t place = oldest().place;
    is_late_ = done_[place].has_passed();
    ranks_.wait(done_[place]);
    return status_[place].flags;
}

template <class N>
auto GpuSegments<N>::take_oldest() -> Completed
{
    Segment segment = std::move(under_way_.front());
    under_way_.pop_front();
    pace_.completed(segment, Segment::Time::clock::now(), is_late_);
    const std::size_t place = segment.place;
    return {std::move(segment), status_[place], frames_[place]};
}

template <class N>
void GpuSegments<N>::wait_for_all()
{
    ranks_.synchronize();
    copies_.synchronize();
}

template <class N>
void GpuSegments<N>::pass_over(std::int64_t steps)
{
    PARHELION_EXPECTS(is_empty());
    for_each_rank<N>(ranks_.layout().here(),
                     [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) { advance_step(gpu.queue, steps, r.state); });
    step_ += steps;
}

template <class N>
void GpuSegments<N>::drop()
{
    wait_for_all();
    under_way_.clear();
}

// The oldest segment's output was not passed on. The snapshot is of its beginning, or of an interval where it continues.
template <class N>
std::deque<Segment> GpuSegments<N>::take_back()
{
    PARHELION_EXPECTS(oldest().begins_interval());
    wait_for_all();
    ranks_.put_back(at_repartition_);
    return std::exchange(under_way_, {});
}

#define PARHELION_INSTANTIATE(N) template class GpuSegments<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
