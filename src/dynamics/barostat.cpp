// SPDX-License-Identifier: Apache-2.0
#include "dynamics/barostat.hpp"

#include "base/random.hpp"
#include "base/units.hpp"
#include "dynamics/thermostat.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

// Inverse mass of the Parrinello-Rahman box, times the unit of pressure: 4 pi^2 beta / (3 tau^2 L), L the longest edge.
double inverse_box_mass(const PressureCoupling& coupling, const Vec3<double>& box)
{
    const double longest = std::max({box.x, box.y, box.z});
    return 4 * units::pi * units::pi * coupling.compressibility / (3 * coupling.tau * coupling.tau * longest);
}

double volume(const Vec3<double>& box) { return box.x * box.y * box.z; }

// d ln V of one coupling step, C-rescale's noise included (Bernetti and Bussi, eq. 5 in the logarithm of the volume).
double volume_strain(const PressureCoupling& coupling, std::int64_t step, double pressure, double box_volume)
{
    const double rate = coupling.compressibility * coupling.time_step / coupling.tau;
    double strain = rate * (pressure - coupling.reference);
    if (coupling.kind == Barostat::CRescale)
    {
        const double variance = 2 * units::boltzmann * coupling.temperature * rate * units::bar_per_kj_mol_nm3 / box_volume;
        strain += std::sqrt(variance) * RandomSequence(coupling.seed, RandomPurpose::Barostat, step, 0).next_normal();
    }
    return strain;
}

} // namespace

PressureCoupling make_pressure_coupling(const RunParameters& parameters, std::uint64_t seed)
{
    PressureCoupling coupling;
    coupling.kind = parameters.barostat;
    coupling.interval = pressure_interval(parameters);
    coupling.time_step = coupling.interval * parameters.dt;
    coupling.tau = parameters.tau_p;
    coupling.compressibility = parameters.compressibility;
    coupling.reference = parameters.reference_pressure;
    if (!parameters.temperature_groups.empty()) { coupling.temperature = parameters.temperature_groups[0].reference; }
    coupling.seed = seed;
    return coupling;
}

void advance_box_velocity(const PressureCoupling& coupling, const Vec3<double>& box, BarostatState& barostat,
                          VelocityCoupling& velocities)
{
    if (coupling.kind != Barostat::ParrinelloRahman) { return; }
    if (barostat.pressure_known)
    {
        // One strain drives all edges: dV/dt (P - P0) is the power that changes 1/2 W sum of (box velocity)^2.
        const double strain_acceleration =
            inverse_box_mass(coupling, box) * 3 * volume(box) / norm2(box) * (barostat.pressure - coupling.reference);
        barostat.box_velocity += (coupling.time_step * strain_acceleration) * box;
    }
    for (int d = 0; d < 3; ++d) { velocities.drag[d] = coupling.time_step * barostat.box_velocity[d] / box[d]; }
}

template <class N>
double scale_box(CpuQueue& queue, const PressureCoupling& coupling, std::int64_t step, const PressureObservables& observables,
                 BarostatState& barostat, KineticEnergies& half_step, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Couple);
    const Vec3<double> box = state.box.length();
    if (coupling.kind == Barostat::None) { return 1; }
    if (coupling.kind == Barostat::ParrinelloRahman)
    {
        state.box.set_length(box + coupling.time_step * barostat.box_velocity);
        return state.box.length().x / box.x;
    }
    const double strain = volume_strain(coupling, step, observables.pressure, volume(box)) / 3;
    const double factor = std::exp(strain);
    state.box.set_length(factor * box);
    // dU / d(strain) = 2 tr Xi, half of it before and half after the scaling.
    barostat.pending_strain = strain;
    barostat.pending_work = strain * observables.virial_trace;
    if (coupling.kind == Barostat::CRescale)
    {
        const double energy_factor = 1 / (factor * factor);
        barostat.pending_work += (energy_factor - 1) * half_step.energy();
        for (Mat3<double>& kinetic : half_step.group) { kinetic *= energy_factor; }
        auto& v = state.v.values();
        queue.for_range(v.size(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
            {
                v[i] = static_cast<typename N::Real>(static_cast<double>(v[i]) / factor);
            }
        });
    }
    return factor;
}

void complete_work(double virial_trace, BarostatState& barostat)
{
    barostat.work += barostat.pending_work + barostat.pending_strain * virial_trace;
    barostat.pending_work = barostat.pending_strain = 0;
}

double conserved_contribution(const PressureCoupling& coupling, const Vec3<double>& box, const BarostatState& barostat)
{
    switch (coupling.kind)
    {
    case Barostat::None:
        return 0;
    case Barostat::Berendsen:
    case Barostat::CRescale:
        return -barostat.work;
    case Barostat::ParrinelloRahman:
        break;
    }
    const double kinetic = 0.5 * norm2(barostat.box_velocity) / inverse_box_mass(coupling, box);
    return (kinetic + coupling.reference * volume(box)) / units::bar_per_kj_mol_nm3;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template double scale_box(CpuQueue&, const PressureCoupling&, std::int64_t, const PressureObservables&, BarostatState&,      \
                              KineticEnergies&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
