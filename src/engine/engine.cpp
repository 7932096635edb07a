// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "dynamics/degrees_of_freedom.hpp"
#include "dynamics/minimize.hpp"
#include "dynamics/velocities.hpp"
#include "engine/frame.hpp"
#include "engine/slope.hpp"
#include "engine/step.hpp"
#include "pairs/cluster_order.hpp"
#include "pairs/simd_target_name.hpp"

#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <random>

namespace parhelion {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Fills in what the .mdp left to us: intervals and seeds. A run that goes on keeps its seed.
RunParameters resolved(RunParameters parameters, const SavedState* saved)
{
    parameters.temperature_interval = temperature_interval(parameters);
    parameters.pressure_interval = pressure_interval(parameters);
    if (saved != nullptr) { parameters.random_seed = saved->seed; }
    std::random_device entropy;
    const auto draw = [&] { return static_cast<std::int64_t>(entropy() >> 1); };
    if (parameters.random_seed < 0) { parameters.random_seed = draw(); }
    if (parameters.generation_seed < 0) { parameters.generation_seed = draw(); }
    return parameters;
}

std::vector<std::string> group_names(const RunParameters& parameters)
{
    std::vector<std::string> names;
    for (const TemperatureGroup& group : parameters.temperature_groups) { names.push_back(group.name); }
    return names;
}

} // namespace

template <class N>
Engine<N>::Engine(System&& system, RunParameters&& parameters, int threads, const SavedState* saved)
    : system_(std::move(system)), parameters_(resolved(std::move(parameters), saved)), queue_(threads), rank_(make_rank()),
      first_step_(parameters_.first_step)
{
    if (saved != nullptr) { put_back(*saved, rank_); }
    else { start(); }
    take_snapshot(rank_, at_repartition_);
    plan_.threads = threads;
    plan_.list_interval = rank_.list_plan.interval;
    plan_.list_cutoff = rank_.list_plan.cutoff;
    plan_.buffer = rank_.list_plan.cutoff - std::max(parameters_.coulomb_cutoff, parameters_.lj_cutoff);
    plan_.temperature_interval = parameters_.thermostat == Thermostat::None ? 0 : parameters_.temperature_interval;
    plan_.pressure_interval = parameters_.barostat == Barostat::None ? 0 : parameters_.pressure_interval;
    plan_.energy_interval = parameters_.energy_calc;
    plan_.com_interval = parameters_.com_mode == ComMode::None ? 0 : parameters_.com_interval;
    plan_.degrees_of_freedom = std::accumulate(rank_.degrees_of_freedom.begin(), rank_.degrees_of_freedom.end(), 0.0);
    plan_.seed = static_cast<std::uint64_t>(parameters_.random_seed);
    plan_.kernel = simd_target_name();
    // Per slot: state (twice: the last good one), a force buffer per thread, and the pair list at some 35 entries of 8 bytes.
    const std::size_t state_bytes =
        3 * (sizeof(typename N::Fixed) + sizeof(typename N::Real) + sizeof(typename N::ForceSum)) + 32;
    plan_.bytes =
        rank_.state.slots() * (2 * state_bytes + static_cast<std::size_t>(threads) * 3 * sizeof(typename N::ForceSum) + 280);
}

template <class N>
Rank<N> Engine<N>::make_rank()
{
    const auto atoms = system_.topology.atom_count();
    const AtomGroups temperature_groups =
        make_atom_groups("tc-grps", group_names(parameters_), system_.groups, atoms, Coverage::Every);
    AtomGroups com_groups = make_atom_groups("comm-grps", parameters_.com_groups, system_.groups, atoms, Coverage::Some);
    std::vector<double> dof = degrees_of_freedom(system_.topology, parameters_.com_mode, temperature_groups, com_groups);
    const auto seed = static_cast<std::uint64_t>(parameters_.random_seed);
    TemperatureCoupling temperature_coupling = make_temperature_coupling(parameters_, dof, seed);
    ThermostatState thermostat = initial_state(temperature_coupling);
    const ConstraintMasses masses =
        parameters_.integrator == Integrator::SteepestDescent ? ConstraintMasses::Equal : ConstraintMasses::Physical;
    return Rank<N>{
        .topology = system_.topology,
        .parameters = parameters_,
        .queue = queue_,
        .molecules = all_molecules(system_.topology),
        .list_plan = plan_pair_list(system_, parameters_),
        .nonbonded = NonbondedTables<N>(make_nonbonded(system_.topology, parameters_)),
        .bonded = make_bonded(system_.topology, parameters_),
        .restraints = make_position_restraints(system_, parameters_),
        .dispersion = make_dispersion_correction(system_.topology, parameters_),
        .constraints = Constraints(system_.topology, parameters_, masses),
        .com_groups = std::move(com_groups),
        .degrees_of_freedom = std::move(dof),
        .temperature_coupling = std::move(temperature_coupling),
        .pressure_coupling = make_pressure_coupling(parameters_, seed),
        .stochastic = make_stochastic_dynamics(parameters_, seed),
        .step = parameters_.first_step,
        .state = make_state<N>(system_, temperature_groups.of_atom, queue_),
        .thermostat = std::move(thermostat),
        .barostat = {},
        .bath_heat = 0,
        .pairs = {},
        .buffers = {},
        .constraint_result = {},
        .half_step = {},
        .velocities_before_noise = {},
        .observables = {},
    };
}

// Velocities if they are to be made, constraints satisfied, unless the run continues another. Minimisation starts at rest.
template <class N>
void Engine<N>::start()
{
    Rank<N>& r = rank_;
    if (parameters_.integrator == Integrator::SteepestDescent)
    {
        auto& v = r.state.v.values();
        std::fill(v.begin(), v.end(), typename N::Real{});
        r.constraint_result = constrain_positions(queue_, r.constraints, r.molecules, r.state);
    }
    else
    {
        if (parameters_.generate_velocities)
        {
            const VelocityGeneration generation{parameters_.generation_temperature,
                                                static_cast<std::uint64_t>(parameters_.generation_seed),
                                                std::accumulate(r.degrees_of_freedom.begin(), r.degrees_of_freedom.end(), 0.0)};
            generate_velocities(queue_, generation, r.constraints, r.molecules, r.state);
        }
        if (!parameters_.continuation)
        {
            r.constraint_result = constrain_start(queue_, r.constraints, r.molecules, r.state, parameters_.dt);
        }
    }
    stop_if_constraints_failed(r);
    r.half_step = compute_kinetic(queue_, r.state, r.temperature_groups());
}

template <class N>
Frame Engine<N>::gather(const OutputDue& due, const ParticleState<N>& state)
{
    Frame frame = gather_frame(queue_, system_.topology, rank_.molecules, state, due);
    frame.step = rank_.step;
    frame.time = rank_.time();
    return frame;
}

template <class N>
Frame Engine<N>::frame()
{
    OutputDue all;
    all.x = all.v = true;
    return gather(all, rank_.state);
}

template <class N>
Frame Engine<N>::last_good_frame()
{
    OutputDue all;
    all.x = all.v = true;
    Frame frame = gather(all, at_repartition_.state);
    frame.time += static_cast<double>(at_repartition_.step - frame.step) * parameters_.dt;
    frame.step = at_repartition_.step;
    return frame;
}

template <class N>
SavedState Engine<N>::saved_state()
{
    return to_saved_state(queue_, at_repartition_, parameters_.random_seed);
}

template <class N>
void Engine<N>::advance(const StepFlags& flags, Observer& observer)
{
    step(rank_, flags, [&](Rank<N>& r) {
        if (!flags.due.any_frame()) { return; }
        const ScopedPhase span(queue_.clock(), Phase::Output);
        observer.frame(flags.due, gather(flags.due, r.state));
    });
    if (flags.observe)
    {
        conserved_.emplace_back(rank_.observables.time, rank_.observables.conserved);
        observer.energies(flags.due, rank_.observables);
    }
}

template <class N>
SinglePoint Engine<N>::evaluate()
{
    Snapshot<N> before;
    take_snapshot(rank_, before);
    StepFlags flags;
    flags.repartition = flags.observe = flags.kinetic = true;
    flags.compute = Compute::ForcesEnergiesVirial;
    SinglePoint result;
    step(rank_, flags, [&](Rank<N>& r) {
        OutputDue forces;
        forces.f = true;
        result.forces = gather(forces, r.state).f;
    });
    result.observables = rank_.observables;
    put_back(std::move(before), rank_);
    return result;
}

template <class N>
RunSummary Engine<N>::run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    if (steps < 0) { steps = parameters_.steps < 0 ? std::numeric_limits<std::int64_t>::max() / 4 : parameters_.steps; }
    conserved_.clear();
    if (parameters_.integrator == Integrator::SteepestDescent) { return minimize(steps, observer, stop); }
    return integrate(steps, observer, stop);
}

template <class N>
RunSummary Engine<N>::integrate(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    const auto start_time = Clock::now();
    const std::int64_t first = rank_.step, last = first + steps;
    const Schedule schedule(parameters_, rank_.list_plan.interval, first_step_, last);
    // Rates are those of the steady part: after the first tenth and at least 500 steps, or the whole of a short run.
    const std::int64_t steady = first + (steps > 1000 ? std::max<std::int64_t>(steps / 10, 500) : 0);
    auto steady_start = start_time;
    queue_.clock().reset();
    for (;;)
    {
        StepFlags flags = schedule.flags(rank_.step);
        flags.repartition |= rank_.step == first;
        if (flags.repartition)
        {
            take_snapshot(rank_, at_repartition_);
            observer.progress(rank_.step - first_step_, last - first_step_, rank_.observables.temperature);
            if (observer.checkpoint_due()) { observer.checkpoint(saved_state()); }
        }
        if (rank_.step == last || stop.load(std::memory_order_relaxed)) { break; }
        if (rank_.step == steady)
        {
            steady_start = Clock::now();
            queue_.clock().reset();
        }
        advance(flags, observer);
    }
    RunSummary summary;
    summary.end = rank_.step < last ? RunEnd::Stopped : RunEnd::Done;
    summary.first_step = first;
    summary.steps = rank_.step - first;
    const std::int64_t timed_from = rank_.step > steady ? steady : first;
    summarise(summary, rank_.step - timed_from, seconds_since(timed_from == steady ? steady_start : start_time));

    // The last configuration is observed like any other, by a step that is taken back: the run ends at x(last), v(last - dt/2).
    Snapshot<N> end;
    take_snapshot(rank_, end);
    StepFlags flags = Schedule(parameters_, rank_.list_plan.interval, first_step_, rank_.step).flags(rank_.step);
    flags.repartition = true;
    // An early end was not on the schedule, which had no use for this kinetic energy.
    if (summary.end == RunEnd::Stopped) { rank_.half_step = compute_kinetic(queue_, rank_.state, rank_.temperature_groups()); }
    advance(flags, observer);
    put_back(std::move(end), rank_);
    summary.wall_s = seconds_since(start_time);
    const double kt = units::boltzmann * (rank_.observables.temperature > 0 ? rank_.observables.temperature : 300.0);
    summary.drift = slope(conserved_) * 1000 / kt / static_cast<double>(system_.topology.atom_count());
    return summary;
}

template <class N>
void Engine<N>::summarise(RunSummary& summary, std::int64_t timed_steps, double timed_s) const
{
    if (timed_steps > 0)
    {
        const double per_step = timed_s / static_cast<double>(timed_steps);
        summary.us_per_step = per_step * 1e6;
        summary.ns_per_day = parameters_.dt * 1e-3 * 86400 / per_step;
        for (int p = 0; p < phases; ++p)
        {
            const double us = queue_.clock().seconds(static_cast<Phase>(p)) * 1e6 / static_cast<double>(timed_steps);
            summary.phases.emplace_back(phase_names[static_cast<std::size_t>(p)], us);
        }
    }
    summary.pairs_per_atom = static_cast<double>(rank_.pairs.entries()) * half_cluster_size * cluster_size /
                             static_cast<double>(system_.topology.atom_count());
}

// Forces and energies at rest; frames and energies to the observers.
template <class N>
void Engine<N>::evaluate_static(Observer& observer, const StepFlags& flags)
{
    Rank<N>& r = rank_;
    build_pair_list(queue_, r.state, r.topology, r.molecules, r.list_plan.cutoff, r.pairs);
    clear_forces(queue_, r.buffers, r.state.slots());
    compute_nonbonded(queue_, r.nonbonded, r.pairs, r.state, r.buffers, Compute::ForcesEnergiesVirial);
    compute_bonded(queue_, r.bonded, r.molecules, r.state, r.buffers, Compute::ForcesEnergiesVirial);
    compute_position_restraints(queue_, r.restraints, r.state, r.buffers, Compute::ForcesEnergiesVirial);
    sum_forces(queue_, r.buffers, r.state);
    r.constraint_result = {};
    observe(r, r.half_step);
    balance_energy(r);
    if (flags.due.any_frame()) { observer.frame(flags.due, gather(flags.due, r.state)); }
    observer.energies(flags.due, r.observables);
}

template <class N>
RunSummary Engine<N>::minimize(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    const auto start_time = Clock::now();
    Rank<N>& r = rank_;
    RunSummary summary;
    summary.first_step = r.step;
    const std::int64_t last = r.step + steps;
    const Schedule schedule(parameters_, 1, r.step, last);
    SteepestDescent<N> descent(r.constraints, parameters_.em_step, parameters_.em_tolerance);
    Minimization verdict = Minimization::Continue;
    queue_.clock().reset();
    for (;;)
    {
        if (descent.accepted()) { reorder(queue_, r.state); }
        evaluate_static(observer, schedule.flags(r.step));
        verdict = descent.consider(queue_, r.molecules, r.observables.potential, r.state);
        if (verdict != Minimization::Continue || r.step == last || stop.load(std::memory_order_relaxed)) { break; }
        observer.progress(r.step - summary.first_step, steps, 0);
        ++r.step;
    }
    summary.end = stop.load(std::memory_order_relaxed) && verdict == Minimization::Continue && r.step < last ? RunEnd::Stopped
                                                                                                             : RunEnd::Done;
    summary.steps = r.step - summary.first_step;
    summary.wall_s = seconds_since(start_time);
    summary.converged = verdict == Minimization::Converged;
    summary.largest_force = descent.largest_force();
    summarise(summary, std::max<std::int64_t>(1, summary.steps), summary.wall_s);
    summary.drift = std::numeric_limits<double>::quiet_NaN();
    const char* why = verdict == Minimization::Converged          ? "converged"
                      : verdict == Minimization::MachinePrecision ? "step below machine precision"
                                                                  : "all steps done, not converged";
    observer.message(fmt::format(
        "steepest descent: {} after {} steps; potential {:.8g} kJ/mol, largest force {:.4g} kJ/mol/nm on {}", why, summary.steps,
        descent.potential(), descent.largest_force(), system_.topology.describe(descent.largest_force_atom())));
    return summary;
}

#define PARHELION_INSTANTIATE(N) template class Engine<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
