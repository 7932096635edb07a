// SPDX-License-Identifier: Apache-2.0
// The formulas of temperature coupling for one group, for host and device. thermostat.hpp has the methods and their sources.
#pragma once

#include "base/random.hpp"
#include "base/units.hpp"
#include "dynamics/thermostat.hpp"

#include <cmath>

namespace parhelion {

// The result of one coupling step of a group: the new state, and the effect on velocities (see VelocityCoupling).
struct GroupThermostat
{
    ThermostatState state;
    double scale = 1, friction = 0;
};

namespace thermostat_detail {

// Returns the new kinetic energy of one group by v-rescale, kJ/mol (Bussi, Donadio, Parrinello 2007, eq. A7).
PARHELION_HD inline double resampled_kinetic_energy(double kinetic, const TemperatureCoupling::Group& group, double time_step,
                                                    RandomSequence random)
{
    const double c = std::exp(-time_step / group.tau);
    const double per_degree = 0.5 * units::boltzmann * group.reference;
    const double r = random.next_normal();
    const double others = random.next_sum_of_squares(group.degrees_of_freedom - 1);
    return c * kinetic + (1 - c) * per_degree * (r * r + others) + 2 * r * std::sqrt(c * (1 - c) * kinetic * per_degree);
}

// Returns the factor on velocities by Berendsen's eq. 11. As in GROMACS it is limited, so that a bad start does not blow up.
PARHELION_HD inline double berendsen_factor(double temperature, const TemperatureCoupling::Group& group, double time_step)
{
    constexpr double least = 0.8, most = 1.25;
    const double square = 1 + time_step / group.tau * (group.reference / temperature - 1);
    const double factor = square > 0 ? std::sqrt(square) : 0;
    return factor < least ? least : factor > most ? most : factor;
}

// Returns the inverse mass of the Nose-Hoover variable, which makes the kinetic energy oscillate with period tau.
PARHELION_HD inline double inverse_mass(const TemperatureCoupling::Group& group)
{
    const double frequency = 2 * units::pi / group.tau;
    return frequency * frequency / group.mass_reference;
}

PARHELION_HD inline bool is_coupled(const TemperatureCoupling::Group& group)
{
    return group.tau > 0 && group.degrees_of_freedom > 0;
}

// Advances a chain by `time` ps, symmetrically in time: links from the last to the first, velocities, links back.
// Returns the factor on velocities. With the unit of mass of inverse_mass(), the first link obeys
// xi_1' = (T - T0) / Q - xi_1 xi_2. Link k obeys xi_k' = n xi_(k-1)^2 - T0 / Q - xi_k xi_(k+1). Here n is the number
// of degrees of freedom for k = 2, and 1 for others.
PARHELION_HD inline double advance_chain(const TemperatureCoupling::Group& group, int links, double time, double now,
                                         ThermostatState& state)
{
    const double inverse = inverse_mass(group), thermal = group.reference * inverse;
    const auto xi = [&](int k) -> double& { return k == 0 ? state.xi : state.chain[k - 1]; };
    const auto pushed = [&](int k, double temperature) {
        const double push = k == 0   ? (temperature - group.reference) * inverse
                            : k == 1 ? group.degrees_of_freedom * xi(0) * xi(0) - thermal
                                     : xi(k - 1) * xi(k - 1) - thermal;
        const double slow = k + 1 < links ? std::exp(-0.25 * time * xi(k + 1)) : 1;
        xi(k) = slow * (slow * xi(k) + 0.5 * time * push);
    };
    for (int k = links - 1; k >= 0; --k) { pushed(k, now); }
    const double scale = std::exp(-time * state.xi);
    state.xi_integral += time * state.xi;
    for (int k = 1; k < links; ++k) { state.xi_integral += time * xi(k) / group.degrees_of_freedom; }
    for (int k = 0; k < links; ++k) { pushed(k, scale * scale * now); }
    return scale;
}

} // namespace thermostat_detail

// Advances a group's chain by half of a coupling step of `time_step` ps. kinetic: kinetic energy of v(t), kJ/mol.
// The weights are those of Suzuki and Yoshida (Yoshida, Phys. Lett. A 150, 262 (1990)): five parts give fourth order.
PARHELION_HD inline GroupThermostat half_of_chain(const TemperatureCoupling::Group& group, const NoseHooverChain& chain,
                                                  double time_step, double kinetic, const ThermostatState& state)
{
    namespace detail = thermostat_detail;
    GroupThermostat next{state};
    if (!detail::is_coupled(group)) { return next; }
    const double outer = 1 / (4 - std::cbrt(4.0)), part = 0.5 * time_step / chain.parts;
    const double start = temperature(kinetic, group.degrees_of_freedom);
    for (int i = 0; i < 5 * chain.parts; ++i)
    {
        const double weight = i % 5 == 2 ? 1 - 4 * outer : outer;
        next.scale *= detail::advance_chain(group, chain.links, weight * part, next.scale * next.scale * start, next.state);
    }
    return next;
}

// Returns a group's state after one coupling step of `time_step` ps. kinetic: kinetic energy of v(t - dt/2), kJ/mol; with
// velocity Verlet it is that of v(t), and a chain takes half of the step.
PARHELION_HD inline GroupThermostat couple_group(Thermostat kind, const TemperatureCoupling::Group& group,
                                                 const NoseHooverChain& chain, double time_step, const RandomSequence& random,
                                                 double kinetic, const ThermostatState& state)
{
    namespace detail = thermostat_detail;
    GroupThermostat next{state};
    if (!detail::is_coupled(group)) { return next; }
    if (kind == Thermostat::NoseHoover && chain.links > 0) { return half_of_chain(group, chain, time_step, kinetic, state); }
    const double now = temperature(kinetic, group.degrees_of_freedom);
    if (kind == Thermostat::NoseHoover)
    {
        next.state.xi += time_step * detail::inverse_mass(group) * (now - group.reference);
        next.state.xi_integral += time_step * 0.5 * (state.xi + next.state.xi);
        next.friction = 0.5 * time_step * next.state.xi;
        return next;
    }
    if (!(kinetic > 0)) { return next; }
    next.scale = kind == Thermostat::Berendsen
                     ? detail::berendsen_factor(now, group, time_step)
                     : std::sqrt(detail::resampled_kinetic_energy(kinetic, group, time_step, random) / kinetic);
    next.state.heat += (next.scale * next.scale - 1) * kinetic;
    return next;
}

// Returns a group's part of the difference of the conserved energy and the total energy, kJ/mol.
PARHELION_HD inline double conserved_contribution(Thermostat kind, const TemperatureCoupling::Group& group,
                                                  const ThermostatState& state)
{
    namespace detail = thermostat_detail;
    if (!detail::is_coupled(group)) { return 0; }
    if (kind != Thermostat::NoseHoover) { return -state.heat; }
    // Adds 1/2 Q xi^2 and kT times the integral of xi, per degree of freedom. The integral contains those of the
    // further links of a chain, each of which counts as one degree of freedom.
    double of_links = 0;
    for (const double xi : state.chain) { of_links += xi * xi; }
    return group.degrees_of_freedom * units::boltzmann *
               (0.5 * state.xi * state.xi / detail::inverse_mass(group) + group.reference * state.xi_integral) +
           0.5 * units::boltzmann * of_links / detail::inverse_mass(group);
}

} // namespace parhelion
