// SPDX-License-Identifier: Apache-2.0
#include "dynamics/thermostat.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

// The interval that resolves the time constant by `per_tau` couplings, at most 10 steps and a divisor of 10.
int interval_for(double tau, double dt, int per_tau)
{
    constexpr int wanted = 10;
    int n = std::clamp(static_cast<int>(tau / (dt * per_tau)), 1, wanted);
    while (wanted % n != 0) { --n; }
    return n;
}

// Does the coupling oscillate (second order in time)? Then it needs more points per time constant.
constexpr int per_tau_first_order_temperature = 5, per_tau_first_order_pressure = 10, per_tau_second_order = 20;

// The new kinetic energy of one group (Bussi, Donadio, Parrinello 2007, eq. A7).
double resampled_kinetic_energy(double kinetic, const TemperatureCoupling::Group& group, double time_step, RandomSequence random)
{
    const double c = std::exp(-time_step / group.tau);
    const double per_degree = 0.5 * units::boltzmann * group.reference;
    const double r = random.next_normal();
    const double others = random.next_sum_of_squares(group.degrees_of_freedom - 1);
    return c * kinetic + (1 - c) * per_degree * (r * r + others) + 2 * r * std::sqrt(c * (1 - c) * kinetic * per_degree);
}

// Factor on the velocities, by Berendsen's eq. 11; limited as in GROMACS so that a bad start cannot explode.
double berendsen_factor(double temperature, const TemperatureCoupling::Group& group, double time_step)
{
    const double square = 1 + time_step / group.tau * (group.reference / temperature - 1);
    return std::clamp(std::sqrt(std::max(square, 0.0)), 0.8, 1.25);
}

// Of the Nose-Hoover variable: such that the kinetic energy oscillates with period tau.
double inverse_mass(const TemperatureCoupling::Group& group)
{
    const double frequency = 2 * units::pi / group.tau;
    return frequency * frequency / group.reference;
}

bool is_coupled(const TemperatureCoupling::Group& group) { return group.tau > 0 && group.degrees_of_freedom > 0; }

} // namespace

int temperature_interval(const RunParameters& parameters)
{
    if (parameters.temperature_interval > 0) { return parameters.temperature_interval; }
    double tau = 1e30;
    for (const TemperatureGroup& group : parameters.temperature_groups)
    {
        if (group.tau > 0) { tau = std::min(tau, group.tau); }
    }
    const bool second_order = parameters.thermostat == Thermostat::NoseHoover;
    return interval_for(tau, parameters.dt, second_order ? per_tau_second_order : per_tau_first_order_temperature);
}

int pressure_interval(const RunParameters& parameters)
{
    if (parameters.pressure_interval > 0) { return parameters.pressure_interval; }
    const bool second_order = parameters.barostat == Barostat::ParrinelloRahman;
    return interval_for(parameters.tau_p, parameters.dt, second_order ? per_tau_second_order : per_tau_first_order_pressure);
}

TemperatureCoupling make_temperature_coupling(const RunParameters& parameters, const std::vector<double>& degrees_of_freedom,
                                              std::uint64_t seed)
{
    PARHELION_EXPECTS(parameters.temperature_groups.empty() || parameters.temperature_groups.size() == degrees_of_freedom.size());
    TemperatureCoupling coupling;
    coupling.kind = parameters.thermostat;
    coupling.interval = temperature_interval(parameters);
    coupling.time_step = coupling.interval * parameters.dt;
    coupling.seed = seed;
    coupling.groups.resize(degrees_of_freedom.size());
    for (std::size_t g = 0; g < degrees_of_freedom.size(); ++g)
    {
        coupling.groups[g].degrees_of_freedom = degrees_of_freedom[g];
        if (!parameters.temperature_groups.empty())
        {
            coupling.groups[g].tau = parameters.temperature_groups[g].tau;
            coupling.groups[g].reference = parameters.temperature_groups[g].reference;
        }
    }
    return coupling;
}

ThermostatState initial_state(const TemperatureCoupling& coupling)
{
    const std::size_t groups = coupling.groups.size();
    return {std::vector<double>(groups), std::vector<double>(groups), std::vector<double>(groups)};
}

void couple_temperature(const TemperatureCoupling& coupling, std::int64_t step, const KineticEnergies& half_step,
                        ThermostatState& state, VelocityCoupling& velocities)
{
    if (coupling.kind == Thermostat::None) { return; }
    const std::size_t groups = coupling.groups.size();
    PARHELION_EXPECTS(half_step.group.size() == groups);
    velocities.scale.assign(groups, 1);
    velocities.friction.assign(groups, 0);
    for (std::size_t g = 0; g < groups; ++g)
    {
        const TemperatureCoupling::Group& group = coupling.groups[g];
        const double kinetic = half_step.energy(static_cast<int>(g));
        const double now = temperature(kinetic, group.degrees_of_freedom);
        if (!is_coupled(group)) { continue; }
        if (coupling.kind == Thermostat::NoseHoover)
        {
            const double before = state.xi[g];
            state.xi[g] += coupling.time_step * inverse_mass(group) * (now - group.reference);
            state.xi_integral[g] += coupling.time_step * 0.5 * (before + state.xi[g]);
            velocities.friction[g] = 0.5 * coupling.time_step * state.xi[g];
            continue;
        }
        if (!(kinetic > 0)) { continue; }
        double& factor = velocities.scale[g];
        if (coupling.kind == Thermostat::Berendsen) { factor = berendsen_factor(now, group, coupling.time_step); }
        else
        {
            const RandomSequence random(coupling.seed, RandomPurpose::Thermostat, step, static_cast<std::uint32_t>(g));
            factor = std::sqrt(resampled_kinetic_energy(kinetic, group, coupling.time_step, random) / kinetic);
        }
        state.heat[g] += (factor * factor - 1) * kinetic;
    }
}

double conserved_contribution(const TemperatureCoupling& coupling, const ThermostatState& state)
{
    double sum = 0;
    for (std::size_t g = 0; g < coupling.groups.size(); ++g)
    {
        const TemperatureCoupling::Group& group = coupling.groups[g];
        if (!is_coupled(group)) { continue; }
        if (coupling.kind == Thermostat::NoseHoover)
        {
            // 1/2 Q xi^2 + kT times its integral, per degree of freedom.
            sum += group.degrees_of_freedom * units::boltzmann *
                   (0.5 * state.xi[g] * state.xi[g] / inverse_mass(group) + group.reference * state.xi_integral[g]);
        }
        else { sum -= state.heat[g]; }
    }
    return sum;
}

} // namespace parhelion
