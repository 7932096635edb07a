// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/engine_gpu.hpp"

#include "base/error.hpp"
#include "comm/gpu/self_test.hpp"
#include "domain/gpu/grid_gpu.hpp"
#include "engine/choose_gpus.hpp"
#include "engine/gpu/profile.hpp"
#include "engine/gpu/readings.hpp"
#include "engine/gpu/saved_state.hpp"
#include "engine/guard.hpp"
#include "engine/host_watch.hpp"
#include "engine/run_length.hpp"
#include "engine/unstable_atom.hpp"
#include "model/minimisers.hpp"
#include "trace/align_clocks.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Returns true if a run gets one GPU unless it asks for more. The choice of GPUs has times only for steps without a
// repartition, --pme auto, and a mesh that acts in every step. Other runs were not measured on several GPUs.
bool gets_one_gpu(const SimulationOptions& options, const RunParameters& parameters)
{
    const bool is_unknown_with_mesh =
        parameters.coulomb == CoulombKind::Pme && (options.pme != MeshMethod::Auto || mesh_interval(parameters) > 1);
    return options.gpus == 0 && options.ranks_asked_for() == 0 &&
           (is_unknown_with_mesh || is_minimisation(parameters.integrator));
}

// Returns the options, adapted to the mesh method: slabs for `shared`, fewer ranks with cells for `dedicated`. Throws E635.
SimulationOptions for_mesh(SimulationOptions options, const RunParameters& parameters)
{
    if (options.pme == MeshMethod::Dedicated && options.ranks_asked_for() == 0) { options.ranks = std::max(1, options.gpus); }
    options.mesh_ranks = mesh_ranks(parameters, options, options.ranks_asked_for());
    if (gets_one_gpu(options, parameters)) { options.ranks = 1; }
    if (parameters.coulomb != CoulombKind::Pme) { return options; }
    const int ranks = options.ranks > 0 ? options.ranks : options.gpus;
    if (options.pme == MeshMethod::Shared && options.grid[0] == 0) { options.grid = {ranks, 1, 1}; }
    return options;
}

// Returns the costs of lists. The final number of ranks depends on the list's cutoff. Here the number affects only the costs.
ListCosts list_costs(const RunSetup& setup, const SimulationOptions& options)
{
    const RunParameters& p = setup.parameters;
    const std::int64_t atoms = setup.system.topology.atom_count();
    const double cutoff = std::max(p.lj_cutoff, p.coulomb_cutoff);
    const Box<double>& box = setup.system.box;
    const int asked = options.ranks_asked_for();
    const auto chosen = [&] {
        return choose_gpus(options, find_gpus(), step_size(setup, options, cutoff, 0), box,
                           gpu_grid_criteria(cutoff, 0, atoms, box), time_links);
    };
    const int ranks = asked > 0 ? asked - options.mesh_ranks : chosen().grid.ranks(); // number of ranks with atoms
    return gpu_list_costs(static_cast<double>(atoms) / ranks, ranks > 1);
}

// Returns a ListWatch for the box with which the run began, also after a restart, so lists and bits are those of an unbroken run.
template <class N>
ListWatch make_list_watch(const RunSetup& setup, const ListCosts& costs)
{
    const RunParameters& p = setup.parameters;
    const ListPlan plan = lists_miss_nothing<N> ? plan_complete_list(setup.system, p, setup.list_conditions, costs)
                                                : plan_pair_list(setup.system, p, setup.list_conditions, costs);
    return {setup.system, p,     setup.list_conditions,
            plan,         costs, lists_miss_nothing<N> ? ListsMiss::Nothing : ListsMiss::WhatIsTolerated};
}

} // namespace

template <class N>
GpuEngine<N>::GpuEngine(std::shared_ptr<PreparedRun<N>> run, const SimulationOptions& options)
    : run_(std::move(run)), setup_(run_->setup), on_host_(on_one_rank(options)),
      cores_(std::in_place, setup_.threads * options.processes_of_host, options.process_of_host, options.processes_of_host),
      queue_(setup_.threads), keeps_trace_(options.trace),
      list_watch_(make_list_watch<N>(setup_, list_costs(setup_, for_mesh(options, setup_.parameters)))),
      list_conditions_(run_->start.list_conditions), list_plan_(list_watch_.plan(list_conditions_)), processes_(options),
      ranks_(*run_, list_plan_, for_mesh(options, setup_.parameters), GpuSegments<N>::most_records(list_plan_.interval),
             processes_),
      segments_(ranks_, setup_, list_plan_.interval, keeps_trace_, run_->start.step), output_(setup_, ranks_, queue_)
{
    if (is_minimisation(setup_.parameters.integrator))
    {
        surface_ = std::make_unique<GpuSurface<N>>(ranks_, output_, setup_.system, hooks_of_surface());
    }
    make_plan(options);
}

template <class N>
void GpuEngine<N>::start(HostWatch* watch)
{
    watch_ = watch;
    output_.set_watch(watch);
    if (watch != nullptr || ranks_.layout().has_nodes())
    {
        cores_->share_again(); // the watch and proxies start once the number of ranks is known
        plan_.helpers = cores_->places();
    }
    plan_.links = ranks_.test_links();
    ranks_.deal_out();
    segments_.keep_last_repartition();
    ranks_.synchronize();
    plan_.bytes = static_cast<std::size_t>(gpu_memory::allocated_by_thread() - allocated_before_);
}

template <class N>
void GpuEngine<N>::make_plan(const SimulationOptions& options)
{
    const RunParameters& p = setup_.parameters;
    plan_ = run_->plan;
    plan_.helpers = cores_->places();
    plan_.ranks = ranks_.layout().ranks();
    if (options.balancing == Balancing::On && plan_.ranks > 1)
    {
        throw InputError(
            "E245", {},
            "--dlb on moves the borders of ranks on CPUs alone, and these ranks are on GPUs, whose cells stay equal. "
            "Leave --dlb out, or use --device cpu.");
    }
    plan_.processes = options.processes;
    plan_.gpus = ranks_.layout().gpus();
    plan_.gpus_remark = ranks_.layout().remark();
    const std::size_t there = usable_together(find_gpus()).size();
    if (gets_one_gpu(options, p) && there > 1 && !options.gpu)
    {
        plan_.gpus_remark =
            fmt::format("1 of {}: {} --gpus takes more", there, is_minimisation(p.integrator) ? "in a minimisation" : "with PME");
    }
    plan_.grid = ranks_.layout().grid().cells;
    plan_.halo = options.halo_method();
    if (plan_.mesh) { plan_.mesh->method = ranks_.layout().mesh_method(), plan_.mesh->ranks = ranks_.layout().mesh_ranks(); }
    plan_.kernel = ranks_.queue().name();
    plan_.on_gpu = true;
    plan_.list_interval = list_plan_.interval;
    plan_.keeps_lists = is_minimisation(p.integrator) && plan_.ranks == 1;
    plan_.list_cutoff = list_plan_.cutoff;
    plan_.buffer = list_plan_.cutoff - std::max(p.coulomb_cutoff, p.lj_cutoff);
}

// --- running

template <class N>
bool GpuEngine<N>::complete_oldest(Observer& observer)
{
    if (const std::uint32_t flags = segments_.wait_for_oldest(); flags != 0) { return recover(flags, observer); }
    attempts_ = 0;
    const auto completed = segments_.take_oldest();
    sure_temperature_ = completed.scalars.sure_temperature;
    const Segment& segment = completed.segment;
    output_.hand_on(completed, observer);
    // Checks the cut-off of the CPU's list. If pairs take their nearest image, the cut-off may exceed half the box.
    const Box<double>& box = completed.scalars.box;
    stop_if_box_too_small(segment.end(), ranks_.layout().looks_for_images() ? box.largest_cutoff() : 0.5 * box.least_height(),
                          setup_.list_plan.cutoff);
    if (segment.ends_interval) { output_.tell_progress(segment.end(), observer); }
    return true;
}

template <class N>
bool GpuEngine<N>::complete(Observer& observer)
{
    while (!segments_.is_empty()) { complete_oldest(observer); }
    return is_on_gpus();
}

template <class N>
bool GpuEngine<N>::make_way(Observer& observer)
{
    while (segments_.is_full()) { complete_oldest(observer); }
    return is_on_gpus();
}

template <class N>
bool GpuEngine<N>::observe_here(const StepFlags& flags, Observer& observer)
{
    return segments_.try_step(flags, [&] { return complete(observer); });
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
    Schedule::set_full_step(setup_.parameters, segments_.step(), flags);
    Listener listener;
    std::string trouble;
    try
    {
        output_.begin_single_point();
        if (surface_ && is_on_gpus())
        {
            std::optional<SinglePoint> at_rest = evaluate_at_rest();
            if (at_rest) { listener.point = *std::move(at_rest); }
        }
        else if (is_on_gpus()) { observe_here(flags, listener); }
        if (is_on_gpus())
        {
            const WatchPause pause(watch_);
            listener.point.remark = range_remark<N>(listener.point.forces, listener.point.observables.forces);
            return std::move(listener.point);
        }
    }
    catch (const PhysicsError& error) // the GPU's results are lost after an error
    {
        trouble = error.what();
        go_on_on_cpu(trouble);
    }
    const WatchPause pause(watch_);
    SinglePoint point = on_cpu_->evaluate();
    if (point.trouble.empty()) { point.trouble = trouble; }
    return point;
}

template <class N>
RunSummary GpuEngine<N>::run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    steps = steps_to_take(steps, setup_.parameters);
    const bool begins_on_gpus = is_on_gpus();
    const std::int64_t first = begins_on_gpus ? segments_.step() : on_cpu_->next_step();
    const Stopwatch whole;
    std::optional<RunSummary> on_gpus;
    if (begins_on_gpus)
    {
        PausingObserver pausing(processes_, observer);
        Observer& heard = processes_.are_several() ? static_cast<Observer&>(pausing) : observer;
        on_gpus = surface_ ? minimise_on_gpus(steps, heard, stop) : run_on_gpus(steps, heard, stop);
    }
    RunSummary summary = on_gpus ? *std::move(on_gpus) : run_on_cpu(first, first + steps, observer, stop);
    summary.wall_s = whole.wall_s(); // time of all steps; if the CPU took over, rates are for its steps only
    return summary;
}

template <class N>
RunSummary GpuEngine<N>::run_on_cpu(std::int64_t first, std::int64_t last, Observer& observer, const std::atomic<bool>& stop)
{
    const WatchPause pause(watch_);
    const std::int64_t here = on_cpu_->next_step();
    observer.message(fmt::format("note: step {}: {} The CPU goes on from here.", here, why_on_cpu_));
    RunSummary summary = on_cpu_->run(last - here, observer, stop);
    summary.steps += here - first;
    return summary;
}

// Returns the summary, or nothing if the CPU has to take over.
template <class N>
std::optional<RunSummary> GpuEngine<N>::run_on_gpus(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    intervals_halved_ = 0;
    shortest_interval_ = list_plan_.interval;
    RunSpan run(setup_.parameters, list_plan_.interval, setup_.first_step, segments_.step(), steps);
    run.schedule.set_stream_interval(setup_.stream_interval);
    output_.begin_run(run.last);
    output_.tell_progress(run.first, observer);
    return run_steps(*this, run, observer, stop);
}

template <class N>
template <class T>
T GpuEngine<N>::of_first(T value)
{
    const WatchPause pause(watch_); // the first process may be writing files, which is no GPU call
    return processes_.of_first(value);
}

// Work in flight was queued for the old lists, so it is completed before the lists are planned anew.
template <class N>
bool GpuEngine<N>::watch_lists(RunSpan& run, Observer& observer)
{
    ListConditions now = ListWatch::risen(list_conditions_, sure_temperature_);
    const bool anew = ListWatch::is_time_to_look(segments_.step() - setup_.first_step, list_plan_.interval);
    if (anew && !conditions_anew(now, observer)) { return false; }
    if (now == list_conditions_) { return true; }
    if (!complete(observer)) { return false; }
    ranks_.forget_graphs();
    list_plan_ = list_watch_.plan(now);
    run.schedule.set_list_interval(list_plan_.interval);
    if (list_plan_.interval < shortest_interval_)
    {
        observer.message(note_on_lists(segments_.step(), list_conditions_, now, list_plan_));
        shortest_interval_ = list_plan_.interval;
    }
    list_conditions_ = std::move(now);
    plan_.list_interval = list_plan_.interval;
    return true;
}

template <class N>
bool GpuEngine<N>::conditions_anew(ListConditions& conditions, Observer& observer)
{
    if (!complete(observer)) { return false; }
    segments_.keep_last_repartition();
    ranks_.synchronize();
    const GpuSnapshot<N>& snapshot = segments_.at_repartition();
    std::vector<Vec3<std::uint32_t>> leading;
    for (const auto& x : snapshot.x.to_vector(ranks_.queue()))
    {
        leading.push_back({leading_bits(x.x), leading_bits(x.y), leading_bits(x.z)});
    }
    const Box<double> box = snapshot.scalars.to_vector(ranks_.queue())[0].box;
    const WatchPause pause(watch_);
    conditions = list_watch_.conditions_anew(sure_temperature_, box, leading);
    return true;
}

template <class N>
Look GpuEngine<N>::look(RunSpan& run, const std::atomic<bool>& stop, Observer& observer)
{
    if (!run.begins_list(segments_.step())) { return Look::GoOn; }
    if (!watch_lists(run, observer)) { return Look::GiveUp; }
    if (of_first(observer.checkpoint_due()))
    {
        if (!complete(observer)) { return Look::GiveUp; }
        segments_.keep_last_repartition();
        observer.checkpoint(saved_state());
    }
    return of_first(stop.load(std::memory_order_relaxed)) ? Look::Stop : Look::GoOn;
}

template <class N>
bool GpuEngine<N>::advance(const RunSpan& run, Observer& observer)
{
    Segment segment = next_segment(run.schedule, segments_.step(), of_first(segments_.pace()), run.first, run.last);
    // A segment that may have to be repeated begins with a new list.
    if (ranks_.layout().may_need_newer_lists())
    {
        segment.flags.front().repartition = true;
        segment.ends_interval |= segment.end() < run.last; // the next segment then begins with a list
    }
    if (!make_way(observer)) { return false; }
    // True for the last segment before the timed part of a run without a trace.
    const bool is_profiled = !keeps_trace_ && segment.first < run.steady && segment.end() >= run.steady;
    segments_.profile(is_profiled);
    if (is_profiled) { clear_records(ranks_.layout().here()); }
    segments_.submit(std::move(segment));
    return true;
}

template <class N>
void GpuEngine<N>::begin_timed(RunSummary& summary)
{
    add_profile(block_records(ranks_.layout().here()), launched_kernels(), summary);
}

// Observes the last configuration by a step that is then undone, as on the CPU.
template <class N>
bool GpuEngine<N>::finish(const RunSpan& run, RunSummary& summary, Observer& observer)
{
    constexpr double pairs_per_tile = cluster_size * cluster_size;
    const std::int64_t atoms = setup_.system.topology.atom_count(), step = segments_.step();
    if (run.begins_list(step)) { segments_.keep_last_repartition(); }
    if (keeps_trace_ && summary.phases.empty())
    {
        add_profile(block_records(ranks_.layout().here()), launched_kernels(), summary);
    }
    summary.pairs_per_atom = count_tiles(ranks_.layout().here(), processes_) * pairs_per_tile / static_cast<double>(atoms);
    if (summary.end == RunEnd::Stopped) { ranks_.measure_kinetic(); }
    if (!observe_here(run.schedule.flags_at_end(step), observer)) { return false; }
    summary.constraint_deviation = largest_deviation(ranks_.layout().here(), processes_);
    set_drift(summary, output_.conserved(), output_.latest_temperature(), atoms);
    set_list_evidence(summary, list_watch_.error(list_conditions_, list_plan_), list_conditions_);
    tell_of_halved_intervals(observer);
    if (processes_.are_several()) { last_ = read_frame(segments_.keep_now()); }
    return true;
}

// --- reading

template <class N>
Frame GpuEngine<N>::read_frame(const GpuSnapshot<N>& snapshot)
{
    const OutputDue due = positions_and_velocities();
    copy_to_host(ranks_.queue(), snapshot, ranks_.framed_forces(), due, read_);
    ranks_.synchronize();
    const WatchPause pause(watch_);
    return output_.frame(read_, due, read_.scalars[0].step);
}

template <class N>
Frame GpuEngine<N>::frame()
{
    if (last_) { return *last_; }
    if (is_on_gpus()) { return read_frame(segments_.keep_now()); }
    const WatchPause pause(watch_);
    return on_cpu_->frame();
}

template <class N>
Frame GpuEngine<N>::last_good_frame()
{
    if (is_on_gpus()) { return read_frame(kept_state()); }
    const WatchPause pause(watch_);
    return on_cpu_->last_good_frame();
}

template <class N>
SavedState GpuEngine<N>::saved_state()
{
    if (is_on_gpus())
    {
        ranks_.synchronize();
        SavedState saved = to_saved_state(ranks_.queue(), kept_state(), setup_.parameters.random_seed);
        write_conditions(list_conditions_, saved);
        return saved;
    }
    const WatchPause pause(watch_);
    return on_cpu_->saved_state();
}

template <class N>
std::vector<Timeline> GpuEngine<N>::timelines()
{
    std::vector<Timeline> timelines;
    if (!keeps_trace_) { return timelines; }
    const std::vector<NamedKernel> kernels = named_kernels(launched_kernels());
    for (const std::vector<BlockRecord>& records : block_records(ranks_.layout().here()))
    {
        const std::string name =
            fmt::format("GPU {}, {}", ranks_.layout().queue(static_cast<int>(timelines.size())).device(), plan_.kernel);
        timelines.push_back(timeline_of_blocks(name, kernels, records));
    }
    align_clocks(timelines);
    return timelines;
}

#define PARHELION_INSTANTIATE(N) template class GpuEngine<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
