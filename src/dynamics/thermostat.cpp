// SPDX-License-Identifier: Apache-2.0
#include "dynamics/thermostat.hpp"

#include "base/error.hpp"
#include "dynamics/thermostat_body.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Throws if a group has less than one degree of freedom: its kinetic energy then has no distribution of finite density.
void require_freedom(const TemperatureCoupling& coupling, const std::string& name, const TemperatureCoupling::Group& group)
{
    constexpr double rounding = 1e-6;
    if (coupling.kind == Thermostat::None || group.tau <= 0 || group.degrees_of_freedom >= 1 - rounding) { return; }
    throw InputError(
        "E541", {},
        fmt::format("the temperature group {} has {:.3g} degrees of freedom (a thermostat would scale what constraints, "
                    "or the removed motion of the centre of mass, leave of next to nothing). Join it to another group, or "
                    "leave it uncoupled with tau-t = -1.",
                    name, group.degrees_of_freedom));
}

void add_annealing(const TemperatureGroup& given, TemperatureCoupling& coupling, TemperatureCoupling::Group& group)
{
    group.annealing = given.annealing;
    if (given.annealing == Annealing::None) { return; }
    group.first_point = static_cast<int>(coupling.points.size());
    group.points = static_cast<int>(given.annealing_points.size());
    coupling.points.insert(coupling.points.end(), given.annealing_points.begin(), given.annealing_points.end());
}

} // namespace

TemperatureCoupling make_temperature_coupling(const RunParameters& parameters, const std::vector<double>& degrees_of_freedom,
                                              std::uint64_t seed)
{
    PARHELION_EXPECTS(parameters.temperature_groups.empty() || parameters.temperature_groups.size() == degrees_of_freedom.size());
    PARHELION_EXPECTS(parameters.thermostat == Thermostat::None || parameters.temperature_interval > 0);
    TemperatureCoupling coupling;
    coupling.kind = parameters.thermostat;
    coupling.time_step = parameters.temperature_interval * parameters.dt;
    coupling.seed = seed;
    coupling.at_full_step = parameters.integrator == Integrator::VelocityVerlet;
    if (coupling.at_full_step && coupling.kind == Thermostat::NoseHoover)
    {
        coupling.chain = {parameters.nose_hoover_chain, parameters.temperature_interval};
    }
    coupling.groups.resize(degrees_of_freedom.size());
    for (std::size_t g = 0; g < degrees_of_freedom.size(); ++g)
    {
        coupling.groups[g].degrees_of_freedom = degrees_of_freedom[g];
        if (!parameters.temperature_groups.empty())
        {
            coupling.groups[g].tau = parameters.temperature_groups[g].tau;
            coupling.groups[g].reference = parameters.temperature_groups[g].reference;
            add_annealing(parameters.temperature_groups[g], coupling, coupling.groups[g]);
            const bool is_frozen = degrees_of_freedom[g] == 0 && !parameters.frozen_groups.empty();
            if (!is_frozen) { require_freedom(coupling, parameters.temperature_groups[g].name, coupling.groups[g]); }
        }
    }
    anneal(parameters.start_time, coupling);
    for (TemperatureCoupling::Group& group : coupling.groups) { group.mass_reference = group.reference; }
    return coupling;
}

std::vector<ThermostatState> initial_state(const TemperatureCoupling& coupling)
{
    ThermostatState of_group;
    of_group.links_after_first = std::max(coupling.chain.links, 1) - 1;
    return std::vector<ThermostatState>(coupling.groups.size(), of_group);
}

void couple_temperature(const TemperatureCoupling& coupling, std::int64_t step, const KineticEnergies& kinetic,
                        std::span<ThermostatState> state, VelocityCoupling& velocities)
{
    if (coupling.kind == Thermostat::None) { return; }
    const std::size_t groups = coupling.groups.size();
    PARHELION_EXPECTS(kinetic.group.size() == groups && state.size() == groups);
    velocities.scale.resize(groups, 1);
    velocities.friction.assign(groups, 0);
    velocities.at_full_step = coupling.at_full_step;
    for (std::size_t g = 0; g < groups; ++g)
    {
        const GroupThermostat next = couple_group(coupling.kind, coupling.groups[g], coupling.chain, coupling.time_step,
                                                  {coupling.seed, RandomPurpose::Thermostat, step, static_cast<std::uint32_t>(g)},
                                                  kinetic.energy(static_cast<int>(g)), state[g]);
        state[g] = next.state;
        velocities.scale[g] *= next.scale;
        velocities.friction[g] = next.friction;
    }
}

void finish_coupling(const TemperatureCoupling& coupling, KineticEnergies& kinetic, std::span<ThermostatState> state,
                     VelocityCoupling& velocities)
{
    velocities.at_full_step = true;
    velocities.scale.assign(coupling.groups.size(), 1);
    for (std::size_t g = 0; g < coupling.groups.size(); ++g)
    {
        const GroupThermostat next =
            half_of_chain(coupling.groups[g], coupling.chain, coupling.time_step, kinetic.energy(static_cast<int>(g)), state[g]);
        state[g] = next.state;
        velocities.scale[g] = next.scale;
        kinetic.group[g] = (next.scale * next.scale) * kinetic.group[g];
    }
}

double conserved_contribution(const TemperatureCoupling& coupling, std::span<const ThermostatState> state)
{
    double sum = 0;
    for (std::size_t g = 0; g < coupling.groups.size(); ++g)
    {
        sum += conserved_contribution(coupling.kind, coupling.groups[g], state[g]);
    }
    return sum;
}

} // namespace parhelion
