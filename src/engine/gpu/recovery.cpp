// SPDX-License-Identifier: Apache-2.0
// The part of GpuEngine that handles failed segments, by their flags.
//
// The idea: the snapshot is restored, and the segments in flight are repeated one list interval at a time, to find the
// interval that fails. This interval gets more capacity, or newer lists in its middle (remedy.hpp). If no repetition can
// help, the host explains the failure: the CPU repeats the steps, or the longest term is found. If no list is large enough,
// the CPU takes over for the rest of the run. Cost: the failed segments once more, with a check by the host at each interval.
#include "base/error.hpp"
#include "engine/assign.hpp"
#include "engine/gpu/engine_gpu.hpp"
#include "engine/gpu/readings.hpp"
#include "engine/host_watch.hpp"
#include "engine/longest_term.hpp"

#include <fmt/format.h>
#include <memory>

namespace parhelion {

namespace {

constexpr int most_attempts = 8; // attempts to increase capacity
struct GoesOnOnCpu               // ends a minimisation on GPUs; the CPU has the base
{
};
constexpr const char* list_is_full =
    "Atoms in one place have more neighbours or exclusions than the GPU's pair list has room for.";

} // namespace

template <class N>
bool GpuEngine<N>::recover(std::uint32_t flags, Observer& observer)
{
    segments_.wait_for_all();
    Segment& oldest = segments_.oldest();
    switch (remedy_for(flags, intervals_of(oldest).size() == 1, oldest.flags.size() == 1))
    {
    case Remedy::RepeatByInterval:
        break;
    case Remedy::GrowCapacity:
        grow_capacity(flags);
        break;
    case Remedy::NewerLists:
        build_lists_in_the_middle(oldest);
        break;
    case Remedy::BlowUp:
        blow_up();
    case Remedy::LongestTerm:
        stop_for_missing_terms();
    case Remedy::RefuseGrid:
        refuse_grid();
    case Remedy::RefuseMesh:
        refuse_mesh();
    }
    if (!is_on_gpus()) { return false; }
    for (const Segment& segment : segments_.take_back())
    {
        for (Segment& interval : cut_into_intervals(segment))
        {
            if (!make_way(observer)) { return false; }
            segments_.submit(std::move(interval));
        }
    }
    return true;
}

template <class N>
void GpuEngine<N>::build_lists_in_the_middle(Segment& interval)
{
    PARHELION_EXPECTS(interval.flags.size() > 1);
    interval.flags[interval.flags.size() / 2].repartition = true;
    ++intervals_halved_;
}

template <class N>
void GpuEngine<N>::refuse_grid()
{
    const std::int64_t step = failed_step();
    throw GridError(step,
                    fmt::format("E505 step {}: the box has become too small for the grid {}x{}x{}, or an atom has left its "
                                "cell too far behind (which of two atoms is ahead would be undecided). Use a grid that does "
                                "not divide its short edges, or fewer ranks.",
                                step, plan_.grid[0], plan_.grid[1], plan_.grid[2]));
}

template <class N>
void GpuEngine<N>::refuse_mesh()
{
    const std::int64_t step = failed_step();
    throw GridError(step, fmt::format("E512 step {}: with --pme shared an atom is so far from its rank's cell that another rank "
                                      "lacks its charge on a part of the mesh, although halos are new. Use --pme bricks.",
                                      step));
}

template <class N>
void GpuEngine<N>::tell_of_halved_intervals(Observer& observer) const
{
    if (intervals_halved_ == 0) { return; }
    observer.message(fmt::format("note: pair lists were built before their time {} times, and steps taken again, so that no "
                                 "pair or charge was missed (an atom had moved far).",
                                 intervals_halved_));
}

template <class N>
void GpuEngine<N>::grow_capacity(std::uint32_t flags)
{
    const double density_factor = ranks_.layout().density_factor();
    const Growth growth = ++attempts_ > most_attempts ? Growth::NotInLists : ranks_.grow_capacity(flags);
    if (growth == Growth::NotInLists) { return go_on_on_cpu(list_is_full); }
    if (growth == Growth::Made) { return; }
    const std::int64_t step = failed_step();
    throw GridError(step, fmt::format("E509 step {}: with the grid {}x{}x{}, a rank has come to more than {:.1f} times as many "
                                      "atoms as it would have at the mean density, and GPUs have no room for its halo. Use fewer "
                                      "ranks, or a grid whose cells hold about as many atoms each.",
                                      step, plan_.grid[0], plan_.grid[1], plan_.grid[2], density_factor));
}

template <class N>
std::unique_ptr<Engine<N>> GpuEngine<N>::make_cpu_engine()
{
    segments_.drop();
    const SavedState state = saved_state();
    const WatchPause pause(watch_);
    put_back(state, queue_, run_->start);
    cores_.reset();
    return std::make_unique<Engine<N>>(run_, on_host_);
}

template <class N>
void GpuEngine<N>::go_on_on_cpu(const std::string& why)
{
    on_cpu_ = make_cpu_engine();
    why_on_cpu_ = why;
}

// The snapshot is the state at the beginning of the list.
template <class N>
void GpuEngine<N>::stop_for_missing_terms()
{
    const Frame frame = read_frame(kept_state());
    const WatchPause pause(watch_);
    const Topology& topology = setup_.system.topology;
    const LongestTerm longest = longest_term(topology, frame.x, frame.box);
    throw missing_terms(frame.step, "bonded terms", list_plan_.cutoff,
                        fmt::format(" The longest spans {:.3f} nm, from {} to {}.", longest.length, topology.describe(longest.a),
                                    topology.describe(longest.b)));
}

// The CPU repeats the interval's steps to find the failure that the GPU found.
template <class N>
void GpuEngine<N>::blow_up()
{
    const std::unique_ptr<Engine<N>> cpu = make_cpu_engine();
    const FailureReport report = earliest_failure(ranks_.layout().here(), processes_);
    const WatchPause pause(watch_);
    Observer nobody;
    const std::atomic<bool> never{false};
    const std::int64_t steps = report.step - cpu->next_step() + 1;
    PARHELION_EXPECTS(report.atom >= 0 && steps > 0); // `steps`: up to and including the step that failed
    cpu->run(steps + list_plan_.interval, nobody, never);
    throw PhysicsError(report.step, fmt::format("E508 step {}: {} was unstable on the GPU, but not when the CPU took the same "
                                                "steps. Try a shorter time step, or --precision double.",
                                                report.step, setup_.system.topology.describe(report.atom)));
}

// --- minimisations

template <class N>
typename GpuSurface<N>::Hooks GpuEngine<N>::hooks_of_surface()
{
    const auto grow = [this](std::uint32_t flags, int attempt) {
        attempts_ = attempt - 1;
        grow_capacity(flags);
        if (!is_on_gpus()) { throw GoesOnOnCpu(); }
    };
    const auto refuse = [this](Remedy remedy) {
        if (remedy == Remedy::RefuseMesh) { refuse_mesh(); }
        if (remedy == Remedy::RefuseGrid) { refuse_grid(); }
        stop_for_missing_terms();
    };
    const auto leave_gpus = [this](const std::string& why) {
        go_on_on_cpu(why);
        throw GoesOnOnCpu();
    };
    return {grow, refuse, leave_gpus};
}

template <class N>
std::optional<RunSummary> GpuEngine<N>::minimise_on_gpus(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    constexpr double pairs_per_tile = cluster_size * cluster_size;
    try
    {
        surface_->begin();
        RunSummary summary = minimise(*surface_, setup_, segments_.step(), steps, observer, stop);
        summary.pairs_per_atom =
            count_tiles(ranks_.layout().here(), processes_) * pairs_per_tile / static_cast<double>(ranks_.layout().atoms());
        segments_.pass_over(summary.steps);
        return summary;
    }
    catch (const GoesOnOnCpu&)
    {
        return {};
    }
}

template <class N>
std::optional<SinglePoint> GpuEngine<N>::evaluate_at_rest()
{
    OutputDue forces;
    forces.f = true;
    try
    {
        surface_->begin();
        surface_->evaluate();
        SinglePoint point;
        point.observables = surface_->observables();
        point.observables.time =
            setup_.parameters.start_time + static_cast<double>(point.observables.step) * setup_.parameters.dt;
        point.forces = surface_->frame(forces).f;
        surface_->return_to_base();
        return point;
    }
    catch (const GoesOnOnCpu&)
    {
        return {};
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template bool GpuEngine<N>::recover(std::uint32_t, Observer&);                                                               \
    template typename GpuSurface<N>::Hooks GpuEngine<N>::hooks_of_surface();                                                     \
    template std::optional<RunSummary> GpuEngine<N>::minimise_on_gpus(std::int64_t, Observer&, const std::atomic<bool>&);        \
    template std::optional<SinglePoint> GpuEngine<N>::evaluate_at_rest();                                                        \
    template void GpuEngine<N>::tell_of_halved_intervals(Observer&) const;                                                       \
    template void GpuEngine<N>::go_on_on_cpu(const std::string&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
