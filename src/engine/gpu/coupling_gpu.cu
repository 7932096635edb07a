// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/coupling_gpu.hpp"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "dynamics/thermostat_body.hpp"
#include "engine/guard.hpp"
#include "engine/list_watch.hpp"
#include "engine/observe_body.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

// Index of each quantity in the array of sums of a step.
constexpr int virial_sums = 0, deviation_sum = 9, heat_sum = 10, kinetic_sums = 11;

} // namespace

template <class N>
struct GpuCoupling<N>::Args
{
    // --- values that are constant in a run
    Thermostat thermostat;
    NoseHooverChain chain;
    bool at_full_step;
    double thermostat_time_step, dt;
    std::uint64_t seed;
    TemperatureCoupling::Group* temperature_groups;
    StochasticDynamics::Group* friction; // indexed by motion group; null without stochastic dynamics
    const AnnealingPoint* annealing_points;
    double start_time;
    int groups, motion_groups, com_groups;
    ComMode com_mode;
    const Vec3<double>*mobility, *frozen; // null: no atom is frozen
    PressureCoupling pressure;
    DispersionTail dispersion;
    std::int64_t lincs_constraints;
    // --- values of this step
    std::int64_t step_offset;
    bool couple_temperature, couple_pressure, remove_com, kinetic, observe, begins, full_step, finish_coupling;
    // --- the state, in device memory
    DeviceScalars* scalars;
    EnergySums<N>* energies;
    ScalarSum<N>* sums;
    CouplingView coupling;
    Mat3<double>* full_kinetic; // by temperature group
    GivenEnergy* given;
    GroupKick* kick;
    ScalarSum<N>* early_sums;
    double* full_step_factor;
    Vec3<double>* velocity_factor;
    Box<double>* box_before;
    std::int64_t* observed;
    ObservedStep* records;
    double* record_temperatures;
    std::int64_t record_count;

    __device__ std::int64_t step() const { return scalars->step + step_offset; }
    __device__ ScalarSum<N>* kinetic_of(int g) const { return sums + kinetic_sums + g * kinetic_elements; }
    __device__ ScalarSum<N>* early_of(int g) const { return early_sums + g * kinetic_elements; }
    __device__ ScalarSum<N>* com_of(int c) const { return kinetic_of(motion_groups) + c * com_sum_count(com_mode); }
};

namespace {

// Returns the value of a sum and sets the sum to zero.
template <class Sum>
__device__ double take(Sum& sum)
{
    const double value = from_sum(sum);
    sum = 0;
    return value;
}

template <class Sum>
__device__ Mat3<double> take_tensor(Sum* sums)
{
    Mat3<double> tensor;
    for (int i = 0; i < 9; ++i) { tensor[i / 3][i % 3] = take(sums[i]); }
    return tensor;
}

template <class Sum>
__device__ Mat3<double> take_kinetic(Sum* sums)
{
    const double xx = take(sums[0]), yy = take(sums[1]), zz = take(sums[2]);
    const double xy = take(sums[3]), xz = take(sums[4]), yz = take(sums[5]);
    return {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}};
}

template <class N>
using Args = typename GpuCoupling<N>::Args;

// Purpose        sets the reference temperatures for this step's time
// Work           by one thread
// Reads/Writes   points / temperature groups, friction of stochastic dynamics
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           a few us, only in runs with simulated annealing
template <class N>
__global__ void anneal_kernel(BlockTrace tracing, typename GpuCoupling<N>::Args a)
{
    const BlockSpan span(tracing);

    const double time = a.start_time + static_cast<double>(a.step()) * a.dt;
    for (int g = 0; g < a.groups; ++g)
    {
        const double reference = reference_at(a.temperature_groups[g], a.annealing_points, time);
        a.temperature_groups[g].reference = reference;
        for (int m = g; a.friction != nullptr && m < a.motion_groups; m += a.groups)
        {
            a.friction[m].kt = units::boltzmann * reference;
        }
    }
}

// Takes the sums of group g and of its motion groups.
template <class A, class SumsOf>
__device__ Mat3<double> take_joined(const A& a, int g, const SumsOf& sums_of)
{
    Mat3<double> sum = take_kinetic(sums_of(g));
    for (int m = g + a.groups; m < a.motion_groups; m += a.groups) { sum += take_kinetic(sums_of(m)); }
    return sum;
}

template <class A>
__device__ double conserved_part_of_thermostats(const A& a)
{
    double sum = 0;
    for (int g = 0; g < a.groups; ++g)
    {
        sum += conserved_contribution(a.thermostat, a.temperature_groups[g], a.coupling.thermostat[g]);
    }
    return sum;
}

// Takes the kinetic energies of v(t), and ends the coupling step of Nose-Hoover chains (finish_coupling()).
template <class A>
__device__ void reach_full_step(const A& a)
{
    for (int g = 0; g < a.groups; ++g)
    {
        Mat3<double>& kinetic = a.full_kinetic[g];
        ThermostatState& thermostat = a.coupling.thermostat[g];
        kinetic = take_joined(a, g, [&](int m) { return a.early_of(m); });
        a.full_step_factor[g] = 1;
        if (!a.finish_coupling) { continue; }
        const GroupThermostat next =
            half_of_chain(a.temperature_groups[g], a.chain, a.thermostat_time_step, trace(kinetic), thermostat);
        thermostat = next.state;
        kinetic = (next.scale * next.scale) * kinetic;
        a.full_step_factor[g] = next.scale;
    }
    *a.given = {conserved_part_of_thermostats(a), a.coupling.system->bath_heat};
}

// Purpose        computes the effect of thermostat and barostat on the velocities in this step
// Work           by one thread
// Reads/Writes   kinetic energies, coupling state (read and written) / kick coefficients
// Orders         no memory accesses; the order of the stream suffices
// Requires       half-step kinetic energies of the step before; with velocity Verlet, sums of those of v(t)
// Cost           a few us, only in steps that couple, with velocity Verlet also in those that need v(t)
template <class N>
__global__ void couple_kernel(BlockTrace tracing, typename GpuCoupling<N>::Args a)
{
    const BlockSpan span(tracing);

    if (a.full_step) { reach_full_step(a); }
    for (int g = 0; a.begins && g < a.groups; ++g)
    {
        a.coupling.half_step[g] = take_joined(a, g, [&](int m) { return a.early_of(m); });
    }
    const Vec3<double> drag =
        a.couple_pressure ? box_drag(a.pressure, a.scalars->box.diagonal(), a.coupling.system->barostat) : Vec3<double>{};
    for (int g = 0; g < a.groups; ++g)
    {
        ThermostatState& thermostat = a.coupling.thermostat[g];
        GroupThermostat next{thermostat};
        if (a.couple_temperature)
        {
            const RandomSequence random(a.seed, RandomPurpose::Thermostat, a.step(), static_cast<std::uint32_t>(g));
            next = couple_group(a.thermostat, a.temperature_groups[g], a.chain, a.thermostat_time_step, random,
                                trace(a.at_full_step ? a.full_kinetic[g] : a.coupling.half_step[g]), thermostat);
        }
        thermostat = next.state;
        a.kick[g] = a.at_full_step ? full_step_kick(a.dt, a.full_step_factor[g] * next.scale)
                                   : group_kick(a.dt, next.scale, next.friction, drag);
        for (int m = g + a.groups; m < a.motion_groups; m += a.groups) { a.kick[m] = along(a.mobility[m], a.kick[g]); }
    }
}

// Replaces the kinetic energies of the last half step by those of this half step. Returns the
// step's kinetic energy, their mean or with velocity Verlet that of v(t), and sets its temperatures.
template <class A>
__device__ Mat3<double> advance_kinetic(const A& a, double* temperatures)
{
    Mat3<double> total;
    HottestGroup hottest;
    for (int g = 0; g < a.groups; ++g)
    {
        const Mat3<double> before = a.coupling.half_step[g];
        const Mat3<double> after = take_joined(a, g, [&](int m) { return a.kinetic_of(m); });
        const Mat3<double> of_step = a.at_full_step ? a.full_kinetic[g] : 0.5 * (before + after);
        temperatures[g] = temperature(trace(of_step), a.temperature_groups[g].degrees_of_freedom);
        total += of_step;
        a.coupling.half_step[g] = after;
        hottest.add(trace(after), a.temperature_groups[g].degrees_of_freedom);
    }
    a.scalars->sure_temperature = hottest.sure();
    return total;
}

template <class A>
__device__ void observe(const A& a, ObservedStep& o)
{
    o.step = a.step();
    o.box = a.scalars->box;
    for (int i = 0; i < energy_terms; ++i) { o.forces.energy[i] = take(a.energies->energy[i]); }
    o.forces.virial = take_tensor(&a.energies->virial[0]);
    o.constraint_rmsd = rms_deviation(take(a.sums[deviation_sum]), a.lincs_constraints);
    double degrees_of_freedom = 0;
    for (int g = 0; g < a.groups; ++g) { degrees_of_freedom += a.temperature_groups[g].degrees_of_freedom; }
    complete_observed_step(take_tensor(a.sums + virial_sums), a.dispersion, degrees_of_freedom, a.pressure,
                           a.coupling.system->barostat, o);
}

// Scales the box for the next step, as the barostat demands.
template <class N, class A>
__device__ void scale_box(const A& a, const ObservedStep& o)
{
    Mat3<double> kinetic;
    for (int g = 0; g < a.groups; ++g) { kinetic += a.coupling.half_step[g]; }
    const PressureObservables now{diagonal(o.virial), diagonal(o.pressure_tensor)};
    PressureCoupling pressure = a.pressure;
    if (pressure.follows_annealing) { pressure.temperature = a.temperature_groups[0].reference; }
    const BoxScaling scaling =
        next_box(pressure, o.step, now, a.scalars->box.diagonal(), diagonal(kinetic), a.coupling.system->barostat);
    for (int g = 0; g < a.groups; ++g) { a.coupling.half_step[g] = scaled_kinetic(scaling.velocity, a.coupling.half_step[g]); }
    *a.velocity_factor = scaling.velocity;
    *a.box_before = a.scalars->box;
    a.scalars->template set_box<N>(a.scalars->box.with_diagonal(scaling.box));
}

template <class A>
__device__ void balance_energy(const A& a, ObservedStep& o)
{
    SystemCoupling& coupling = *a.coupling.system;
    const GivenEnergy given = a.at_full_step ? *a.given : GivenEnergy{conserved_part_of_thermostats(a), coupling.bath_heat};
    balance_observed_step(given, a.pressure, a.scalars->box.diagonal(), coupling.barostat, o);
}

// Returns the kinetic energy (kJ/mol) of the motion that is removed from a group, and clears `sum`. frozen: as in ComGroups.
template <class Sum>
__device__ double take_com_energy(ComMode mode, Sum* sum, const Vec3<double>* frozen)
{
    double values[angular_com_sums] = {};
    for (int k = 0; k < com_sum_count(mode); ++k) { values[k] = take(sum[k]); }
    const Vec3<double> momentum{values[0], values[1], values[2]};
    const double mass = values[3], of_rotation = mode == ComMode::Angular ? rotation_of(values).energy : 0;
    if (frozen != nullptr) { return 0.5 * dot(momentum, com_velocity(momentum, mass, *frozen)) + of_rotation; }
    return mass > 0 ? 0.5 * norm2(momentum) / mass + of_rotation : 0;
}

// Purpose        ends a step that is observed, couples or removes motion: computes observables and the next box from sums
// Work           by one thread
// Reads/Writes   sums of the step (left zero), coupling state, box (read and written) / a record for the host
// Orders         the host may read the record after an event behind this kernel
// Requires       the sums that the flags of the step ask for
// Cost           a few us, only in the steps named above
template <class N>
__global__ void finish_kernel(BlockTrace tracing, typename GpuCoupling<N>::Args a)
{
    const BlockSpan span(tracing);

    a.coupling.system->bath_heat += take(a.sums[heat_sum]);
    for (int c = 0; a.remove_com && c < a.com_groups; ++c)
    {
        a.coupling.system->bath_heat -= take_com_energy(a.com_mode, a.com_of(c), a.frozen == nullptr ? nullptr : a.frozen + c);
    }
    const std::int64_t record = *a.observed % a.record_count;
    ObservedStep o{};
    if (a.kinetic) { o.kinetic = advance_kinetic(a, a.record_temperatures + record * a.groups); }
    if (a.observe) { observe(a, o); }
    if (a.couple_pressure) { scale_box<N>(a, o); } // Parrinello-Rahman needs no observables
    if (!a.observe) { return; }
    balance_energy(a, o);
    a.records[record] = o;
    ++*a.observed;
}

} // namespace

template <class N>
GpuCoupling<N>::GpuCoupling(GpuQueue& queue, const CouplingPlan& plan, const ComGroups& com, std::size_t records)
    : plan_(plan), com_groups_(queue, com, plan.mobility, plan.com_mode), kick_(motion_groups()), zero_(1),
      full_step_factor_(plan.temperature.groups.size()), early_sums_(kinetic_elements * motion_groups()),
      full_step_(plan.temperature.groups.size()), given_(1), failure_(1), largest_deviation_(1),
      sums_(kinetic_sums + kinetic_elements * motion_groups() +
            static_cast<std::size_t>(com_sum_count(plan.com_mode)) * static_cast<std::size_t>(com.groups.count)),
      velocity_factor_(1), box_before_(1), observed_(1), records_(records),
      record_temperatures_(records * plan.temperature.groups.size())
{
    temperature_groups_.upload(queue, plan.temperature.groups);
    annealing_points_.upload(queue, plan.temperature.points);
    friction_.upload(queue, plan.stochastic.groups);
    for (const auto& [kick, dt] : {std::pair(&free_kick_, plan.dt), {&half_kick_, 0.5 * plan.dt}, {&kick_back_, -0.5 * plan.dt}})
    {
        kick->upload(queue, kick_coefficients(dt, static_cast<int>(plan.temperature.groups.size()), {}, plan.mobility).group);
        queue.synchronize(); // the coefficients on the host are destroyed
    }
    KickCoefficients to_force = kick_coefficients(1, static_cast<int>(plan.temperature.groups.size()), {}, plan.mobility);
    for (GroupKick& kick : to_force.group) { kick.keep = {}; }
    to_force_.upload(queue, to_force.group);
    const std::vector<GroupKick> no_kick(to_force.group.size());
    no_kick_.upload(queue, no_kick);
    zero_.clear(queue);
    queue.synchronize();
    state_.resize(plan.temperature.groups.size());
    state_.clear(queue), full_step_.clear(queue), given_.clear(queue), observed_.clear(queue), largest_deviation_.clear(queue);
    forget_step(queue);
    queue.synchronize();
}

template <class N>
void GpuCoupling<N>::forget_step(GpuQueue& queue)
{
    const FailureReport none;
    sums_.clear(queue), early_sums_.clear(queue);
    failure_.upload(queue, {&none, 1});
}

template <class N>
typename GpuCoupling<N>::Args GpuCoupling<N>::args(std::int64_t step_offset, const StepTasks& flags, GpuState<N>& state)
{
    return {.thermostat = plan_.temperature.kind,
            .chain = plan_.temperature.chain,
            .at_full_step = plan_.temperature.at_full_step,
            .thermostat_time_step = plan_.temperature.time_step,
            .dt = plan_.dt,
            .seed = plan_.temperature.seed,
            .temperature_groups = temperature_groups_.data(),
            .friction = plan_.stochastic.groups.empty() ? nullptr : friction_.data(),
            .annealing_points = annealing_points_.data(),
            .start_time = plan_.start_time,
            .groups = static_cast<int>(plan_.temperature.groups.size()),
            .motion_groups = static_cast<int>(motion_groups()),
            .com_groups = com_groups_.count,
            .com_mode = com_groups_.mode,
            .mobility = plan_.mobility.empty() ? nullptr : com_groups_.mobility.data(),
            .frozen = plan_.mobility.empty() ? nullptr : com_groups_.frozen.data(),
            .pressure = plan_.pressure,
            .dispersion = plan_.dispersion,
            .lincs_constraints = plan_.lincs_constraints,
            .step_offset = step_offset,
            .couple_temperature = flags.couple_temperature,
            .couple_pressure = flags.couple_pressure,
            .remove_com = flags.remove_com,
            .kinetic = flags.kinetic,
            .observe = flags.observe,
            .begins = flags.begins && !plan_.temperature.at_full_step,
            .full_step = flags.full_step && plan_.temperature.at_full_step,
            .finish_coupling = flags.finish_coupling,
            .scalars = state.scalars.data(),
            .energies = state.energies.data(),
            .sums = sums_.data(),
            .coupling = state_.view(),
            .full_kinetic = full_step_.data(),
            .given = given_.data(),
            .kick = kick_.data(),
            .early_sums = early_sums_.data(),
            .full_step_factor = full_step_factor_.data(),
            .velocity_factor = velocity_factor_.data(),
            .box_before = box_before_.data(),
            .observed = observed_.data(),
            .records = records_.data(),
            .record_temperatures = record_temperatures_.data(),
            .record_count = static_cast<std::int64_t>(records_.size())};
}

template <class N>
const GroupKick* GpuCoupling<N>::couple(GpuQueue& queue, std::int64_t step_offset, const StepTasks& flags, GpuState<N>& state)
{
    if (is_annealed()) { launch(queue, Phase::Couple, anneal_kernel<N>, {1, 1, 0}, args(step_offset, flags, state)); }
    if (!flags.couple_temperature && !flags.couple_pressure && !needs_early_sums(flags)) { return free_kick_.data(); }
    launch(queue, Phase::Couple, couple_kernel<N>, {1, 1, 0}, args(step_offset, flags, state));
    return kick_.data();
}

template <class N>
UpdateArgs<N, CopyTask<N>> GpuCoupling<N>::go_back_args(std::int64_t step_offset)
{
    UpdateArgs<N, CopyTask<N>> update = update_args(step_offset, {}, kick_back_.data());
    update.dt = -plan_.dt;
    return update;
}

template <class N>
UpdateArgs<N, CopyTask<N>> GpuCoupling<N>::full_step_args(std::int64_t step_offset)
{
    UpdateArgs<N, CopyTask<N>> update = update_args(step_offset, {}, half_kick_.data());
    update.dt = 0.5 * plan_.dt;
    return update;
}

template <class N>
void GpuCoupling<N>::sum_early(GpuQueue& queue, GpuState<N>& state)
{
    add_kinetic(queue, state, static_cast<int>(motion_groups()), early_sums_.data());
}

template <class N>
void GpuCoupling<N>::scale_to_full_step(GpuQueue& queue, GpuState<N>& state)
{
    scale_velocities_of_groups(queue, full_step_factor_.data(), static_cast<int>(plan_.temperature.groups.size()), state);
}

template <class N>
UpdateArgs<N, CopyTask<N>> GpuCoupling<N>::update_args(std::int64_t step_offset, const StepTasks& flags, const GroupKick* kick)
{
    UpdateArgs<N, CopyTask<N>> update;
    update.step_offset = step_offset;
    update.dt = plan_.dt;
    update.kick = kick;
    update.friction = plan_.stochastic.groups.empty() ? nullptr : friction_.data();
    update.seed = plan_.stochastic.seed;
    update.limits = {unstable_force, unstable_displacement};
    update.failure = failure_.data();
    update.largest_deviation = largest_deviation_.data();
    update.virial = flags.observe ? sums_.data() + virial_sums : nullptr;
    update.deviation_squares = sums_.data() + deviation_sum;
    update.heat = sums_.data() + heat_sum;
    return update;
}

template <class N>
UpdateArgs<N, CopyTask<N>> GpuCoupling<N>::rest_args()
{
    StepTasks tasks;
    tasks.observe = true;
    UpdateArgs<N, CopyTask<N>> update = update_args(0, tasks, to_force_.data());
    update.dt = 1;
    update.limits = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    update.deviation_squares = nullptr;
    return update;
}

template <class N>
void GpuCoupling<N>::stop_atoms(GpuQueue& queue, GpuState<N>& state)
{
    scale_velocities(queue, zero_.data(), state);
}

template <class N>
UpdateArgs<N, CopyTask<N>> GpuCoupling<N>::move_args(double factor)
{
    UpdateArgs<N, CopyTask<N>> update = update_args(0, {}, no_kick_.data());
    update.dt = factor;
    update.friction = nullptr;
    update.limits = {std::numeric_limits<double>::infinity(), 1e3}; // nm: the energy judges a move
    return update;
}

template <class N>
std::span<ScalarSum<N>> GpuCoupling<N>::com_sums()
{
    const std::size_t before = kinetic_sums + kinetic_elements * motion_groups();
    return {sums_.data() + before, sums_.size() - before};
}
template <class N>
std::span<ScalarSum<N>> GpuCoupling<N>::sums()
{
    return {sums_.data(), kinetic_sums + kinetic_elements * motion_groups()};
}

template <class N>
void GpuCoupling<N>::sum_com_motion(GpuQueue& queue, const StepTasks& flags, GpuState<N>& state)
{
    if (flags.remove_com) { add_com_motion(queue, com_groups_, state, com_sums().data()); }
}

template <class N>
void GpuCoupling<N>::sum(GpuQueue& queue, const StepTasks& flags, GpuState<N>& state)
{
    if (flags.remove_com) { subtract_com_motion(queue, com_groups_, com_sums().data(), state); }
    if (flags.kinetic) { add_kinetic(queue, state, static_cast<int>(motion_groups()), sums_.data() + kinetic_sums); }
}

template <class N>
void GpuCoupling<N>::finish(GpuQueue& queue, std::int64_t step_offset, const StepTasks& flags, const GpuUpdate& update,
                            const CopyTask<N>& copies, GpuState<N>& state)
{
    if (needs_sums(flags)) { launch(queue, Phase::Output, finish_kernel<N>, {1, 1, 0}, args(step_offset, flags, state)); }
    if (!reconstrains(flags) || state.slots == 0) { return; }
    if (!plan_.mobility.empty()) { hold_frozen(queue, com_groups_.mobility, box_before_.data(), state); }
    if (plan_.pressure.kind == Barostat::CRescale) { scale_velocities(queue, velocity_factor_.data(), state); }
    update.reconstrain(queue, step_offset, failure_.data(), copies, state);
}

template <class N>
void GpuCoupling<N>::collect_heat(GpuQueue& queue, GpuState<N>& state)
{
    if (collects_heat()) { launch(queue, Phase::Output, finish_kernel<N>, {1, 1, 0}, args(0, {}, state)); }
}

template <class N>
Observables GpuCoupling<N>::observables(std::int64_t number) const
{
    const auto index = static_cast<std::size_t>(number) % records_.size();
    const std::size_t groups = plan_.temperature.groups.size();
    Observables o;
    static_cast<ObservedStep&>(o) = records_[index];
    const double* const temperatures = record_temperatures_.data() + index * groups;
    o.group_temperature.assign(temperatures, temperatures + groups);
    return o;
}

#define PARHELION_INSTANTIATE(N) template class GpuCoupling<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
