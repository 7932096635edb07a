// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu_engine.hpp"

#include "base/error.hpp"
#include "comm/gpu_self_test.hpp"
#include "domain/gpu_grid.hpp"
#include "engine/choose_gpus.hpp"
#include "engine/gpu_profile.hpp"
#include "engine/gpu_saved_state.hpp"
#include "engine/guard.hpp"
#include "engine/host_watch.hpp"
#include "engine/run_length.hpp"
#include "engine/runaway.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Of a run that keeps a trace, one list interval in so many leaves records, which slow it down.
constexpr std::int64_t intervals_to_a_recorded_one = 4;

constexpr const char* no_room = "Atoms in one place have more neighbours or exclusions than the GPU's pair list has room for.";

SimulationOptions lone(SimulationOptions options)
{
    options.ranks = 1;
    options.grid = {};
    options.trace = false;
    return options;
}

// For the box that the run began with, also where it goes on in another: with the lists it had it has the bits it would have had.
// How many ranks there will be is settled with the list's cutoff; here only what it costs depends on it.
template <class N>
ListPlan plan_list(const RunSetup& setup, const SimulationOptions& options)
{
    const RunParameters& p = setup.parameters;
    const std::int64_t atoms = setup.system.topology.atom_count();
    const double cutoff = std::max(p.lj_cutoff, p.coulomb_cutoff);
    const Vec3<double>& box = setup.system.box;
    const int asked = options.ranks_asked_for();
    const auto chosen = [&] {
        return choose_gpus(options, find_gpus(), atoms, box, gpu_grid_criteria(cutoff, 0, atoms, box), time_links);
    };
    const int ranks = asked > 0 ? asked : chosen().grid.ranks();
    const ListCosts costs = gpu_list_costs(static_cast<double>(atoms) / ranks, ranks > 1);
    return lists_miss_nothing<N> ? plan_complete_list(setup.system, p, costs) : plan_pair_list(setup.system, p, costs);
}

} // namespace

template <class N>
GpuEngine<N>::GpuEngine(System&& system, RunParameters&& parameters, const SimulationOptions& options, const SavedState* saved)
    : host_(std::move(system), std::move(parameters), lone(options), saved), setup_(host_.setup()), keeps_trace_(options.trace),
      list_plan_(plan_list<N>(setup_, options)),
      ranks_(host_.lone_run().rank(), setup_, list_plan_, options,
             (segments_under_way + 1) * static_cast<std::size_t>(SegmentPace::most_steps + list_plan_.interval)),
      copies_(ranks_.queue().device()), status_(segments_under_way + 1)
{
    step_ = host_.lone_run().rank().step;
    for (GpuSnapshot<N>* snapshot : {&at_repartition_, &aside_})
    {
        snapshot->resize(ranks_.queue(), static_cast<std::size_t>(setup_.system.topology.atom_count()),
                         ranks_.coupling().group_count());
    }
    make_plan(options);
}

template <class N>
void GpuEngine<N>::start(HostWatch* watch)
{
    watch_ = watch;
    plan_.links = ranks_.test_links();
    ranks_.deal_out();
    keep_last_repartition();
    ranks_.synchronize();
    plan_.bytes = gpu_memory::held() - held_before_;
}

template <class N>
void GpuEngine<N>::make_plan(const SimulationOptions& options)
{
    const RunParameters& p = setup_.parameters;
    plan_ = host_.plan();
    plan_.ranks = ranks_.ranks();
    plan_.gpus = ranks_.gpus();
    plan_.gpus_remark = ranks_.remark();
    plan_.grid = ranks_.grid().cells;
    plan_.halo = options.halo;
    plan_.kernel = ranks_.queue().name();
    plan_.on_gpu = true;
    plan_.list_interval = list_plan_.interval;
    plan_.list_cutoff = list_plan_.cutoff;
    plan_.buffer = list_plan_.cutoff - std::max(p.coulomb_cutoff, p.lj_cutoff);
}

template <class N>
double GpuEngine<N>::time(std::int64_t step) const
{
    return setup_.parameters.start_time + static_cast<double>(step) * setup_.parameters.dt;
}

// --- running

template <class N>
void GpuEngine<N>::submit(Segment segment)
{
    segment.queued = Clock::now();
    segment.place = submitted_++ % status_.size();
    segment.first_record = records_;
    for (const StepFlags& flags : segment.flags) { records_ += flags.observe ? 1 : 0; }

    if (segment.begins_interval()) { keep_last_repartition(); }
    if (segment.frame) { wait_for(ranks_.queue(), frame_copied_); } // what it left is written anew
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

template <class N>
void GpuEngine<N>::copy_frame(const Segment& segment)
{
    frame_taken_.record(ranks_.queue());
    wait_for(copies_, frame_taken_);
    copy_to_host(copies_, ranks_.framed(), ranks_.framed_forces(), segment.flags[*segment.frame].due, frames_[segment.place]);
    frame_copied_.record(copies_);
}

template <class N>
void GpuEngine<N>::complete_oldest(Observer& observer)
{
    const std::size_t place = under_way_.front().place;
    const bool is_late = done_[place].has_passed();
    ranks_.wait(done_[place]);
    if (const std::uint32_t flags = status_[place].flags; flags != 0)
    {
        do_again(flags, observer);
        return;
    }
    attempts_ = 0;
    const Segment segment = std::move(under_way_.front());
    under_way_.pop_front();
    pace_.completed(segment, Clock::now(), is_late);
    hand_on(segment, observer);
    // Of the list that a CPU would have: pairs are taken by their nearest image, so a longer one may reach beyond half the box.
    stop_if_box_too_small(segment.end(), status_[segment.place].box_length, host_.lone_run().rank().list_plan.cutoff);
    if (segment.ends_interval) { tell_progress(segment.end(), observer); }
}

template <class N>
void GpuEngine<N>::complete_all(Observer& observer)
{
    while (!under_way_.empty()) { complete_oldest(observer); }
}

template <class N>
void GpuEngine<N>::make_way(Observer& observer)
{
    while (under_way_.size() >= segments_under_way) { complete_oldest(observer); }
}

template <class N>
void GpuEngine<N>::tell_progress(std::int64_t step, Observer& observer) const
{
    observer.progress(step - setup_.first_step, steps_in_all(setup_.first_step, last_), latest_temperature_);
}

template <class N>
void GpuEngine<N>::hand_on(const Segment& segment, Observer& observer)
{
    std::int64_t record = segment.first_record, step = segment.first;
    for (const StepFlags& flags : segment.flags)
    {
        if (flags.due.any_frame())
        {
            const OwnWork here(watch_);
            Frame frame = make_frame(host_.lone_run().queue(), setup_.system.topology, frames_[segment.place], flags.due);
            frame.step = step;
            frame.time = time(step);
            observer.frame(flags.due, std::move(frame));
        }
        if (flags.observe)
        {
            Observables o = ranks_.coupling().observables(record++);
            o.time = time(o.step);
            if (!is_single_point_) { stop_if_beyond_range<N>(o); }
            latest_temperature_ = o.temperature;
            drift_.add(o.time, o.conserved);
            observer.energies(flags.due, o);
        }
        ++step;
    }
}

template <class N>
void GpuEngine<N>::observe_here(const StepFlags& flags, Observer& observer)
{
    PARHELION_EXPECTS(flags.repartition && under_way_.empty());
    const std::int64_t here = step_, list_begin = list_begin_;
    Segment segment;
    segment.first = step_;
    segment.flags = {flags};
    if (flags.due.any_frame()) { segment.frame = 0; }
    std::swap(at_repartition_, aside_);
    submit(std::move(segment)); // sets the state aside
    try
    {
        complete_all(observer);
    }
    catch (const GridError&)
    {
        std::swap(at_repartition_, aside_); // what a checkpoint is made of now must be what progress() has told of
        throw;
    }
    ranks_.put_back(at_repartition_);
    std::swap(at_repartition_, aside_);
    step_ = here, list_begin_ = list_begin;
}

template <class N>
void GpuEngine<N>::go_on_at_host(const std::string& why)
{
    hand_to_host();
    why_on_host_ = why;
}

template <class N>
SinglePoint GpuEngine<N>::evaluate()
{
    struct Listener : Observer
    {
        SinglePoint point;
        void frame(const OutputDue&, Frame&& frame) override { point.forces = std::move(frame.f); }
        void energies(const OutputDue&, const Observables& observables) override { point.observables = observables; }
    };
    StepFlags flags;
    flags.repartition = flags.observe = flags.kinetic = true;
    flags.due.f = true;
    Listener listener;
    try
    {
        if (why_on_host_.empty())
        {
            is_single_point_ = true;
            observe_here(flags, listener);
            const OwnWork here(watch_);
            listener.point.remark = range_remark<N>(listener.point.forces, listener.point.observables.forces);
            return std::move(listener.point);
        }
    }
    catch (const NoRoom&)
    {
        go_on_at_host(no_room);
    }
    catch (const PhysicsError& error) // what the GPU computed is lost
    {
        go_on_at_host(error.what());
        const OwnWork here(watch_);
        SinglePoint point = host_.evaluate();
        if (point.trouble.empty()) { point.trouble = error.what(); }
        return point;
    }
    const OwnWork here(watch_);
    return host_.evaluate();
}

template <class N>
RunSummary GpuEngine<N>::run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    const RunParameters& p = setup_.parameters;
    PARHELION_EXPECTS(p.integrator != Integrator::SteepestDescent);
    steps = steps_to_take(steps, p);
    const std::int64_t first = step_;
    const Stopwatch whole;
    try
    {
        if (why_on_host_.empty()) { return run_on_gpu(steps, observer, stop); }
    }
    catch (const NoRoom&)
    {
        go_on_at_host(no_room);
    }
    RunSummary summary = run_on_host(first, first + steps, observer, stop);
    summary.wall_s = whole.wall_s(); // of all these steps, where rates are of those on the CPU
    return summary;
}

template <class N>
RunSummary GpuEngine<N>::run_on_host(std::int64_t first, std::int64_t last, Observer& observer, const std::atomic<bool>& stop)
{
    const OwnWork here(watch_);
    const Rank<N>& r = host_.lone_run().rank();
    const std::int64_t before = r.step - first;
    observer.message(fmt::format("note: step {}: {} The CPU goes on from here.", r.step, why_on_host_));
    RunSummary summary = host_.run(last - r.step, observer, stop);
    summary.steps += before;
    step_ = r.step;
    return summary;
}

template <class N>
RunSummary GpuEngine<N>::run_on_gpu(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    const Stopwatch whole;
    const RunParameters& p = setup_.parameters;
    drift_ = {};
    intervals_halved_ = 0;
    is_single_point_ = false;
    const std::int64_t first = step_;
    last_ = first + steps;
    const Schedule schedule(p, list_plan_.interval, setup_.first_step, last_);
    const std::int64_t steady = steady_from(first, steps);
    std::int64_t timed_from = first;
    Stopwatch timed = whole;
    RunSummary summary;
    tell_progress(first, observer);
    for (;;)
    {
        const bool begins_interval = step_ == first || schedule.flags(step_).repartition;
        if (begins_interval && observer.checkpoint_due())
        {
            complete_all(observer);
            keep_last_repartition();
            observer.checkpoint(saved_state());
        }
        const bool stopped = begins_interval && stop.load(std::memory_order_relaxed);
        if (step_ >= steady && timed_from < steady)
        {
            complete_all(observer);
            add_profile(ranks_.records(), launched_kernels(), summary);
            timed_from = step_;
            timed = {};
        }
        if (step_ == last_ || stopped)
        {
            complete_all(observer);
            if (begins_interval) { keep_last_repartition(); }
            break;
        }
        Segment segment = next_segment(schedule, step_, pace_.steps(), first, last_);
        // What may have to be done again begins with a new list. Nothing depends on when lists that miss nothing are built.
        if constexpr (lists_miss_nothing<N>)
        {
            segment.flags.front().repartition = true;
            segment.ends_interval |= segment.end() < last_; // the next begins with one, too
        }
        make_way(observer);
        is_profiled_ = !keeps_trace_ && segment.first < steady && segment.end() >= steady;
        if (is_profiled_) { ranks_.clear_records(); }
        submit(std::move(segment));
    }
    if (keeps_trace_ && summary.phases.empty()) { add_profile(ranks_.records(), launched_kernels(), summary); }
    summary.end = step_ < last_ ? RunEnd::Stopped : RunEnd::Done;
    summary.steps = step_ - first;
    set_rates(summary, p.dt, step_ - timed_from, timed);
    finish(summary, observer);
    tell_of_halved_intervals(observer);
    summary.wall_s = whole.wall_s();
    return summary;
}

// By the step alone, so that a segment that is done again leaves the same records.
template <class N>
bool GpuEngine<N>::is_recorded(std::int64_t list_begin) const
{
    const std::int64_t interval = (list_begin - setup_.first_step) / list_plan_.interval;
    return keeps_trace_ && interval % intervals_to_a_recorded_one == 0;
}

template <class N>
void GpuEngine<N>::tell_of_halved_intervals(Observer& observer) const
{
    if (intervals_halved_ == 0) { return; }
    observer.message(fmt::format("note: pair lists were built before their time {} times, and steps taken again, so that no "
                                 "pair was missed (an atom had moved far).",
                                 intervals_halved_));
}

// As on the CPU: the last configuration is observed by a step that is taken back.
template <class N>
void GpuEngine<N>::finish(RunSummary& summary, Observer& observer)
{
    constexpr double pairs_per_tile = cluster_size * cluster_size;
    summary.pairs_per_atom = ranks_.tiles() * pairs_per_tile / static_cast<double>(setup_.system.topology.atom_count());
    StepFlags flags = Schedule(setup_.parameters, list_plan_.interval, setup_.first_step, step_).flags(step_);
    flags.repartition = true;
    if (summary.end == RunEnd::Stopped) { ranks_.measure_kinetic(); }
    observe_here(flags, observer);
    set_drift(summary, drift_, latest_temperature_, setup_.system.topology.atom_count());
}

// --- reading

template <class N>
Frame GpuEngine<N>::read_frame(const GpuSnapshot<N>& snapshot)
{
    const OutputDue due = positions_and_velocities();
    copy_to_host(ranks_.queue(), snapshot, ranks_.framed_forces(), due, read_);
    ranks_.synchronize();
    const OwnWork here(watch_);
    Frame frame = make_frame(host_.lone_run().queue(), setup_.system.topology, read_, due);
    frame.step = read_.scalars[0].step;
    frame.time = time(frame.step);
    return frame;
}

template <class N>
Frame GpuEngine<N>::frame()
{
    if (!why_on_host_.empty())
    {
        const OwnWork here(watch_);
        return host_.frame();
    }
    ranks_.keep_state(aside_);
    return read_frame(aside_);
}

template <class N>
Frame GpuEngine<N>::last_good_frame()
{
    if (!why_on_host_.empty())
    {
        const OwnWork here(watch_);
        return host_.last_good_frame();
    }
    return read_frame(at_repartition_);
}

template <class N>
SavedState GpuEngine<N>::saved_state()
{
    if (!why_on_host_.empty())
    {
        const OwnWork here(watch_);
        return host_.saved_state();
    }
    ranks_.synchronize();
    return to_saved_state(ranks_.queue(), at_repartition_, setup_.parameters.random_seed);
}

template <class N>
std::vector<Timeline> GpuEngine<N>::timelines()
{
    std::vector<Timeline> timelines;
    if (!keeps_trace_) { return timelines; }
    const std::vector<NamedKernel> kernels = named_kernels(launched_kernels());
    for (const std::vector<BlockRecord>& records : ranks_.records())
    {
        const std::string name =
            fmt::format("GPU {}, {}", ranks_.queue(static_cast<int>(timelines.size())).device(), plan_.kernel);
        timelines.push_back(timeline_of_blocks(name, kernels, records));
    }
    return timelines;
}

#define PARHELION_INSTANTIATE(N) template class GpuEngine<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
