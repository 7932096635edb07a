// SPDX-License-Identifier: Apache-2.0
#include "engine/rank_run.hpp"

#include "base/error.hpp"
#include "dynamics/minimise/points.hpp"
#include "engine/assign.hpp"
#include "engine/gather.hpp"
#include "engine/guard.hpp"
#include "engine/run_length.hpp"
#include "engine/step.hpp"
#include "model/minimisers.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Returns how many steps fit into half a second at the mean speed since the stopwatch began; 1 before the first step.
std::int64_t steps_in_half_a_second(std::int64_t steps, const Stopwatch& since)
{
    constexpr double most = 1e9;
    return static_cast<std::int64_t>(std::clamp(0.5 * static_cast<double>(steps) / since.wall_s(), 1.0, most));
}

// Returns a rank's work since its clock was reset. Exchanges and sums over ranks are left out, as they wait.
RankWork work_in(const PhaseClock& clock)
{
    constexpr Phase of_atoms[] = {Phase::Reorder, Phase::PairList,  Phase::Nonbonded, Phase::Bonded,
                                  Phase::Spread,  Phase::Gather,    Phase::SumForces, Phase::Kick,
                                  Phase::Couple,  Phase::Constrain, Phase::Drift,     Phase::Kinetic};
    constexpr Phase other[] = {Phase::Fft, Phase::Solve};
    RankWork work;
    for (const Phase phase : of_atoms) { work.of_atoms += clock.seconds(phase); }
    for (const Phase phase : other) { work.other += clock.seconds(phase); }
    return work;
}

std::string note_on_balancing(std::int64_t step, double imbalance, bool is_reproducible)
{
    return fmt::format("note: step {}: the slowest rank works {:.0f} % longer than the mean of all ranks. Borders of cells move "
                       "from here on, so that ranks work equally long.{}",
                       step, 100 * imbalance,
                       is_reproducible ? ""
                                       : " The order of sums then depends on measured times: another run differs in the last "
                                         "bits (--dlb off or --reproducible avoids this).");
}

} // namespace

template <class N>
RankRun<N>::RankRun(const PreparedRun<N>& run, const RankDivision& division, Communicator&& comm)
    : setup_(run.setup), comm_(std::move(comm)), queue_(setup_.threads),
      list_watch_(setup_.system, setup_.parameters, setup_.list_conditions, setup_.list_plan, cpu_list_costs,
                  lists_miss_nothing<N> ? ListsMiss::Nothing : ListsMiss::WhatIsTolerated),
      rank_(make_rank<N>(setup_, run.tables, division, queue_, comm_)), balancer_(division.balancing, division.thinnest)
{
    const Snapshot<N>& whole = run.start;
    const bool is_alone = comm_.ranks() == 1;
    put_back(
        {whole.step,
         is_alone ? whole.state : home_atoms(whole.state, rank_.grid, comm_.rank(), setup_.system.topology, setup_.update_groups),
         whole.coupling, whole.list_conditions},
        rank_);
    if (is_alone) { assign_work(rank_); } // several ranks do so at every repartition
    take_snapshot(rank_, at_repartition_);
}

template <class N>
auto RankRun<N>::agree(bool stop, bool checkpoint, std::int64_t steps_until_look) -> Orders
{
    const ScopedPhase span(queue_.clock(), Phase::Reduce);
    std::int64_t orders[3] = {stop, checkpoint, -steps_until_look}; // negative: the maximum over ranks is the slowest one's
    comm_.max(orders);
    return {orders[0] != 0, orders[1] != 0, rank_.step - orders[2]};
}

template <class N>
ListConditions RankRun<N>::conditions_anew(double sure_temperature)
{
    OutputDue positions;
    positions.x = true;
    const std::vector<AtomData<N>> parts = gather(comm_, atom_data(rank_.state, positions));
    ListConditions now = setup_.list_conditions;
    if (comm_.rank() == 0)
    {
        std::vector<Vec3<std::uint32_t>> leading;
        for (const auto& x : in_input_order(parts, &AtomData<N>::x))
        {
            leading.push_back({leading_bits(x.x), leading_bits(x.y), leading_bits(x.z)});
        }
        now = list_watch_.conditions_anew(sure_temperature, rank_.state.box.edges(), leading);
    }
    else { now = {0, std::vector<double>(now.crowding.size())}; }
    sum_over_ranks(rank_, std::span(&now.temperature, 1));
    sum_over_ranks(rank_, std::span(now.crowding));
    return now;
}

template <class N>
void RankRun<N>::watch_lists(RunSpan& run, Observer& observer)
{
    Rank<N>& r = rank_;
    HottestGroup hottest;
    for (int g = 0; g < r.temperature_groups(); ++g)
    {
        hottest.add(r.coupling.half_step.energy(g), r.tables.degrees_of_freedom[static_cast<std::size_t>(g)]);
    }
    const bool anew = ListWatch::is_time_to_look(r.step - setup_.first_step, r.list_plan.interval);
    ListConditions now = anew ? conditions_anew(hottest.sure()) : ListWatch::risen(r.list_conditions, hottest.sure());
    if (now == r.list_conditions) { return; }
    r.list_plan = list_watch_.plan(now);
    run.schedule.set_list_interval(r.list_plan.interval);
    if (r.list_plan.interval < shortest_interval_)
    {
        observer.message(note_on_lists(r.step, r.list_conditions, now, r.list_plan));
        shortest_interval_ = r.list_plan.interval;
    }
    r.list_conditions = std::move(now);
}

template <class N>
Frame RankRun<N>::gather_frame(const OutputDue& due)
{
    const std::vector<AtomData<N>> parts = gather(comm_, atom_data(rank_.state, due));
    Frame frame = make_frame(queue_, setup_.system.topology, rank_.state.box, parts);
    frame.step = rank_.step;
    frame.time = rank_.time();
    return frame;
}

template <class N>
std::vector<Vec3<double>> RankRun<N>::gather_forces()
{
    OutputDue forces;
    forces.f = true;
    return gather_frame(forces).f;
}

template <class N>
SavedState RankRun<N>::gather_saved_state()
{
    const std::vector<AtomData<N>> parts = gather(comm_, atom_data(at_repartition_.state, positions_and_velocities()));
    return to_saved_state(at_repartition_, parts, setup_.parameters.random_seed);
}

template <class N>
void RankRun<N>::take_step(StepFlags flags, Observer& observer)
{
    comm_.set_tag(rank_.step);
    flags.repartition = flags.repartition || rank_.has_flipped || list_is_stale(rank_);
    queue_.clock().set_step(rank_.step);
    const auto output = [&](Rank<N>&) {
        if (!flags.due.any_frame()) { return; }
        const ScopedPhase span(queue_.clock(), Phase::Output);
        Frame frame = gather_frame(flags.due);
        if (comm_.rank() == 0) { observer.frame(flags.due, std::move(frame)); }
    };
    step(rank_, flags, output, [&](Rank<N>& r) {
        stop_if_unstable(r);
        largest_deviation_ = std::max(largest_deviation_, r.constraint_result.largest_deviation);
        return true;
    });
    if (flags.observe && !rank_.external.has_failed)
    {
        stop_if_beyond_range<N>(rank_.observables);
        conserved_.add(rank_.observables);
        latest_temperature_ = rank_.observables.temperature;
        observer.energies(flags.due, rank_.observables);
    }
}

template <class N>
SinglePoint RankRun<N>::evaluate()
{
    Snapshot<N> before;
    take_snapshot(rank_, before);
    SinglePoint result;
    const auto keep_forces = [&](Rank<N>&) { result.forces = gather_forces(); };
    if (is_minimisation(setup_.parameters.integrator))
    {
        list_pairs();
        evaluate_static();
        keep_forces(rank_);
    }
    else { result.trouble = take_step_of_point(keep_forces); }
    result.observables = rank_.observables;
    put_back(std::move(before), rank_);
    return result;
}

// Takes the step of a single-point evaluation. Returns the error that would end a run in this step, or an empty text.
template <class N>
template <class Output>
std::string RankRun<N>::take_step_of_point(Output&& output)
{
    StepFlags flags;
    flags.repartition = flags.observe = flags.kinetic = true;
    Schedule::set_full_step(setup_.parameters, rank_.step, flags);
    std::string trouble;
    std::int64_t ranks_in_trouble = 0;
    step(rank_, flags, output, [&](Rank<N>& r) {
        const std::int64_t failures = r.constraint_result.failures;
        const Failures known = over_ranks(r, failures) == failures ? Failures::OfAll : Failures::OfThisRank;
        try
        {
            stop_if_unstable(r, known);
        }
        catch (const PhysicsError& error)
        {
            trouble = error.what();
        }
        ranks_in_trouble = over_ranks(r, std::int64_t{!trouble.empty()});
        return ranks_in_trouble == 0;
    });
    if (ranks_in_trouble > 0)
    {
        // The forces of a bad start are computed already, and the user needs them to
        // see what is wrong. The constraint forces are computed before any atom moves.
        rank_.constraint_result = forces_at_rest(queue_, rank_.tables.constraints, rank_.assigned_constraints, rank_.state,
                                                 ConstraintMasses::Physical, rank_.tables.mobility)
                                      .of_constraints;
        observe(rank_, rank_.coupling.half_step);
        balance_energy(rank_, given_energy(rank_));
    }
    return trouble;
}

template <class N>
RunSummary RankRun<N>::integrate(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    conserved_ = {};
    reset_clock();
    rank_.external.has_failed = false;
    orders_ = {};
    last_look_ = {rank_.step, {}};
    rank_.list_plan = list_watch_.plan(rank_.list_conditions);
    shortest_interval_ = rank_.list_plan.interval;
    RunSpan run(setup_.parameters, rank_.list_plan.interval, setup_.first_step, rank_.step, steps);
    run.schedule.set_stream_interval(setup_.stream_interval);
    return *run_steps(*this, run, observer, stop);
}

// Exchanges requests where a list begins, and within a list interval that takes
// longer than a stop may take. Every rank knows whether an external force has failed.
template <class N>
Look RankRun<N>::look(RunSpan& run, const std::atomic<bool>& stop, Observer& observer)
{
    if (rank_.external.has_failed) { return Look::Stop; }
    const bool begins_list = run.begins_list(rank_.step);
    if (!begins_list && rank_.step < orders_.next_look) { return Look::GoOn; }
    if (begins_list)
    {
        observer.progress(rank_.step - setup_.first_step, steps_in_all(setup_.first_step, run.last), latest_temperature_);
    }
    const std::int64_t pace = steps_in_half_a_second(rank_.step - last_look_.step, last_look_.since);
    orders_ = agree(stop.load(std::memory_order_relaxed), begins_list && observer.checkpoint_due(), pace);
    last_look_ = {rank_.step, {}};
    // After the collective agree(): if a rank has failed, agree() fails on the others, and all keep the same older snapshot.
    if (begins_list)
    {
        watch_lists(run, observer);
        take_snapshot(rank_, at_repartition_);
    }
    if (orders_.checkpoint)
    {
        SavedState state = gather_saved_state();
        if (comm_.rank() == 0) { observer.checkpoint(std::move(state)); }
    }
    return orders_.stop ? Look::Stop : Look::GoOn;
}

template <class N>
bool RankRun<N>::advance(const RunSpan& run, Observer& observer)
{
    StepFlags flags = run.schedule.flags(rank_.step);
    flags.repartition = run.begins_list(rank_.step);
    if (flags.repartition) { balance_load(observer); }
    take_step(flags, observer);
    return true;
}

template <class N>
void RankRun<N>::reset_clock()
{
    queue_.clock().reset();
    measured_ = {};
}

// A border moves only here. The repartition that follows gives atoms to their new owners, so between two moves there is one.
template <class N>
void RankRun<N>::balance_load(Observer& observer)
{
    constexpr int lists_at_once = 10;
    const int cells = rank_.grid.ranks();
    if (cells == 1 || !balancer_.is_on() || ++measured_.lists <= lists_at_once) { return; }
    const RankWork so_far = work_in(queue_.clock());
    std::vector<double> times(2 * static_cast<std::size_t>(comm_.ranks()));
    const auto own = 2 * static_cast<std::size_t>(comm_.rank());
    times[own] = so_far.of_atoms - measured_.before.of_atoms, times[own + 1] = so_far.other - measured_.before.other;
    measured_ = {1, so_far};
    sum_over_ranks(rank_, std::span(times));
    std::vector<RankWork> work;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(cells); ++rank)
    {
        work.push_back({times[2 * rank], times[2 * rank + 1]});
    }
    std::optional<CellGrid> moved = balancer_.consider(rank_.grid, work);
    if (!moved) { return; }
    rank_.grid = std::move(*moved);
    if (balancer_.record().moves == 1)
    {
        observer.message(note_on_balancing(rank_.step, balancer_.record().imbalance, N::summation == Summation::Reproducible));
    }
}

// Observes the last configuration by a step that is then undone. The run ends at x(last) and v(last - dt/2).
template <class N>
bool RankRun<N>::finish(const RunSpan& run, RunSummary& summary, Observer& observer)
{
    set_phases(summary);
    if (balancer_.has_measured()) { summary.balance = Balance{balancer_.record(), borders_in_edges(rank_.grid)}; }
    if (!rank_.external.has_failed)
    {
        Snapshot<N> end;
        take_snapshot(rank_, end);
        // The schedule did not foresee an early end, so the kinetic energy of this half step was not computed.
        if (summary.end == RunEnd::Stopped) { rank_.coupling.half_step = kinetic_energies(rank_); }
        take_step(run.schedule.flags_at_end(rank_.step), observer);
        put_back(std::move(end), rank_);
    }
    std::int64_t deviation[] = {in_deviation_units(largest_deviation_)};
    comm_.max(deviation);
    summary.constraint_deviation = deviation_unit * static_cast<double>(deviation[0]);
    set_drift(summary, conserved_, latest_temperature_, setup_.system.topology.atom_count());
    set_list_evidence(summary, list_watch_.error(rank_.list_conditions, rank_.list_plan), rank_.list_conditions);
    return true;
}

// Sets the time of each phase, as the mean over the timed steps, us per step.
template <class N>
void RankRun<N>::set_phases(RunSummary& summary)
{
    for (int p = 0; p < phases && summary.timed_steps > 0; ++p)
    {
        const double us = queue_.clock().seconds(static_cast<Phase>(p)) * 1e6 / static_cast<double>(summary.timed_steps);
        summary.phases.emplace_back(phase_names[static_cast<std::size_t>(p)], us);
        summary.covered_us += us;
    }
    summary.pairs_per_atom = static_cast<double>(rank_.pairs.entries()) * half_cluster_size * cluster_size /
                             static_cast<double>(setup_.system.topology.atom_count());
}

#define PARHELION_INSTANTIATE(N) template class RankRun<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
