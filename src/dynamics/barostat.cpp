// SPDX-License-Identifier: Apache-2.0
#include "dynamics/barostat.hpp"

#include "base/error.hpp"
#include "dynamics/shear_body.hpp"
#include "trace/phases.hpp"

namespace parhelion {

PressureCoupling make_pressure_coupling(const RunParameters& parameters, std::uint64_t seed, double turning_share)
{
    PARHELION_EXPECTS(parameters.barostat == Barostat::None || parameters.pressure_interval > 0);
    PressureCoupling coupling;
    coupling.kind = parameters.barostat;
    coupling.time_step = parameters.pressure_interval * parameters.dt;
    coupling.tau = parameters.tau_p;
    coupling.edges = parameters.box_coupling;
    coupling.compressibility = parameters.compressibility;
    coupling.reference = parameters.reference_pressure;
    coupling.shear_compressibility = parameters.shear_compressibility;
    coupling.shear_reference = parameters.shear_reference_pressure;
    coupling.surface_tension = parameters.surface_tension;
    if (parameters.barostat == Barostat::CRescale)
    {
        const std::optional<double> temperature = ensemble_temperature(parameters);
        coupling.follows_annealing = !temperature && parameters.ensemble_temperature_setting != EnsembleTemperature::NotAvailable;
        PARHELION_EXPECTS(temperature.has_value() || is_annealed(parameters));
        coupling.temperature = temperature.value_or(0);
    }
    coupling.turning_share = turning_share;
    coupling.seed = seed;
    return coupling;
}

void advance_box_velocity(const PressureCoupling& coupling, const Box<double>& box, BarostatState& barostat,
                          VelocityCoupling& velocities)
{
    if (!coupling.shears() || coupling.kind != Barostat::ParrinelloRahman)
    {
        velocities.drag = box_drag(coupling, box.diagonal(), barostat);
        return;
    }
    const BoxDrag drag = sheared_box_drag(coupling, box, barostat);
    velocities.drag = drag.along, velocities.shear = drag.shear;
}

namespace {

// Moves frozen atoms back along their frozen axes. They had followed the change of the box from `before`.
template <class N>
void hold_frozen(CpuQueue& queue, const PeriodicBox<N>& before, const Mobility& mobility, ParticleState<N>& state)
{
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            const Vec3<double>& moves = mobility[state.temperature_group[slot]];
            if (moves == Vec3<double>{1, 1, 1}) { continue; }
            state.x.set(slot, held(before, state.box, moves, state.x.get(slot)));
        }
    });
}

} // namespace

template <class N>
void scale_box(CpuQueue& queue, const PressureCoupling& coupling, std::int64_t step, const PressureObservables& observables,
               BarostatState& barostat, KineticEnergies& half_step, ParticleState<N>& state, const Mobility& mobility)
{
    const ScopedPhase span(queue.clock(), Phase::Couple);
    if (coupling.kind == Barostat::None) { return; }
    if (coupling.shears())
    {
        const PeriodicBox<N> before = state.box;
        state.box.set_edges(next_sheared_box(coupling, observables, before.edges(), barostat));
        if (!mobility.empty()) { hold_frozen(queue, before, mobility, state); }
        return;
    }
    const BoxScaling scaling =
        next_box(coupling, step, observables, state.box.edges().diagonal(), diagonal(half_step.total()), barostat);
    const PeriodicBox<N> before = state.box;
    state.box.set_edges(before.edges().with_diagonal(scaling.box));
    if (!mobility.empty()) { hold_frozen(queue, before, mobility, state); }
    if (scaling.velocity == Vec3<double>{1, 1, 1}) { return; }
    for (Mat3<double>& kinetic : half_step.group) { kinetic = scaled_kinetic(scaling.velocity, kinetic); }
    auto& v = state.v.values();
    queue.for_range(v.size(), 3 * cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
        {
            const int axis = static_cast<int>(i / cluster_size % 3);
            v[i] = static_cast<typename N::Real>(static_cast<double>(v[i]) * scaling.velocity[axis]);
        }
    });
}

template <class N>
bool flip_box(CpuQueue& queue, const PressureCoupling& coupling, BarostatState& barostat, ParticleState<N>& state)
{
    const Box<double> box = state.box.edges();
    const BoxFlip flip = flip_of(box);
    if (!flip.is_due()) { return false; }
    queue.for_range(state.slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot) { state.x.set(slot, flipped(flip, state.x.get(slot))); }
    });
    const double before = conserved_contribution(coupling, box.diagonal(), barostat);
    state.box.set_edges(flipped(flip, box));
    barostat.tilt_velocity = flipped(flip, Box<double>(barostat.box_velocity, barostat.tilt_velocity)).tilt();
    barostat.work += conserved_contribution(coupling, box.diagonal(), barostat) - before;
    return true;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void scale_box(CpuQueue&, const PressureCoupling&, std::int64_t, const PressureObservables&, BarostatState&,        \
                            KineticEnergies&, ParticleState<N>&, const Mobility&);                                               \
    template bool flip_box(CpuQueue&, const PressureCoupling&, BarostatState&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
