// SPDX-License-Identifier: Apache-2.0
#include "dynamics/barostat.hpp"

#include "base/error.hpp"
#include "dynamics/barostat_body.hpp"
#include "trace/phases.hpp"

namespace parhelion {

PressureCoupling make_pressure_coupling(const RunParameters& parameters, std::uint64_t seed)
{
    PARHELION_EXPECTS(parameters.barostat == Barostat::None || parameters.pressure_interval > 0);
    PressureCoupling coupling;
    coupling.kind = parameters.barostat;
    coupling.time_step = parameters.pressure_interval * parameters.dt;
    coupling.tau = parameters.tau_p;
    coupling.edges = parameters.box_coupling;
    coupling.compressibility = parameters.compressibility;
    coupling.reference = parameters.reference_pressure;
    coupling.surface_tension = parameters.surface_tension;
    if (parameters.barostat == Barostat::CRescale)
    {
        const std::optional<double> temperature = ensemble_temperature(parameters);
        PARHELION_EXPECTS(temperature.has_value());
        coupling.temperature = *temperature;
    }
    coupling.seed = seed;
    return coupling;
}

void advance_box_velocity(const PressureCoupling& coupling, const Vec3<double>& box, BarostatState& barostat,
                          VelocityCoupling& velocities)
{
    velocities.drag = box_drag(coupling, box, barostat);
}

template <class N>
void scale_box(CpuQueue& queue, const PressureCoupling& coupling, std::int64_t step, const PressureObservables& observables,
               BarostatState& barostat, KineticEnergies& half_step, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Couple);
    if (coupling.kind == Barostat::None) { return; }
    const BoxScaling scaling =
        next_box(coupling, step, observables, state.box.edges().diagonal(), diagonal(half_step.total()), barostat);
    state.box.set_edges(state.box.edges().with_diagonal(scaling.box));
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

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void scale_box(CpuQueue&, const PressureCoupling&, std::int64_t, const PressureObservables&, BarostatState&,        \
                            KineticEnergies&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
