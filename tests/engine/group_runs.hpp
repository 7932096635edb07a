// SPDX-License-Identifier: Apache-2.0
// Runs of a reference system with frozen atoms, simulated annealing, fields, accelerations and removed rotation: those of
// tests/data/refdata/etoh/rf/make_groups.sh.
#pragma once

#include "io/input/frozen_groups.hpp"
#include "run_helpers.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace parhelion::test {

inline constexpr std::uint8_t along_x_and_z = 5, along_all = 7;
inline constexpr std::size_t ethanol_atoms = 900;

using IsFrozen = std::function<bool(std::size_t atom)>;
inline bool of_ethanol(std::size_t atom) { return atom < ethanol_atoms; }
inline bool of_water(std::size_t atom) { return !of_ethanol(atom); }
inline bool is_carbon(std::size_t atom) { return of_ethanol(atom) && (atom % 9 == 0 || atom % 9 == 4); }

// nve.mdp with these atoms frozen.
inline Refdata with_frozen(const IsFrozen& is_frozen, std::uint8_t axes, ConstraintMode constraints = ConstraintMode::HBonds)
{
    Refdata data = load_refdata("etoh", constraints);
    std::vector<std::int64_t>& frozen = data.system.groups["frozen"];
    for (std::size_t atom = 0; atom < data.system.x.size(); ++atom)
    {
        if (is_frozen(atom)) { frozen.push_back(static_cast<std::int64_t>(atom)); }
        data.system.groups[of_ethanol(atom) ? "ETH" : "SOL"].push_back(static_cast<std::int64_t>(atom));
    }
    data.parameters.frozen_groups = {{"frozen", axes}};
    MdpInput input;
    input.parameters = data.parameters;
    Diagnostics diagnostics;
    freeze_groups(input, data.system, diagnostics);
    return data;
}

inline Refdata in_a_changing_box(Thermostat thermostat, Barostat barostat, const IsFrozen& is_frozen)
{
    Refdata data = with_frozen(is_frozen, along_all, ConstraintMode::None);
    RunParameters& p = data.parameters;
    p.dt = 0.0005;
    p.thermostat = thermostat;
    p.temperature_interval = p.pressure_interval = 1;
    p.temperature_groups = {{"ETH", 0.5, 300}, {"SOL", 0.5, 300}};
    p.barostat = barostat;
    p.tau_p = 5;
    p.box_coupling = BoxCoupling::Anisotropic;
    p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
    p.reference_pressure = {1, 2000, -1000};
    return data;
}

// nve.mdp with a temperature that is annealed.
inline Refdata annealed(Thermostat thermostat, Integrator integrator = Integrator::LeapFrog)
{
    Refdata data = load_refdata("etoh");
    for (std::size_t atom = 0; atom < data.system.x.size(); ++atom)
    {
        data.system.groups[of_ethanol(atom) ? "ETH" : "SOL"].push_back(static_cast<std::int64_t>(atom));
    }
    data.parameters.integrator = integrator;
    data.parameters.thermostat = thermostat;
    data.parameters.temperature_interval = 1;
    data.parameters.random_seed = 5;
    data.parameters.temperature_groups = {{"ETH", 0.5, 300, Annealing::Single, {{0, 300}, {0.03, 400}}},
                                          {"SOL", 0.5, 300, Annealing::Periodic, {{0, 300}, {0.01, 200}, {0.025, 320}}}};
    return data;
}

// nve.mdp in a field: constant along x, oscillating along y, a pulse along z.
inline Refdata in_a_field()
{
    Refdata data = load_refdata("etoh");
    data.parameters.electric_field = {ElectricField{0.5, 0, 0, 0}, {0.4, 150, 0, 0}, {-0.6, 80, 0.02, 0.01}};
    return data;
}

inline Refdata in_groups()
{
    Refdata data = load_refdata("etoh");
    for (std::size_t atom = 0; atom < data.system.x.size(); ++atom)
    {
        data.system.groups[of_ethanol(atom) ? "ETH" : "SOL"].push_back(static_cast<std::int64_t>(atom));
        if (atom >= 81 && atom < 90)
        {
            data.system.groups["ONE"].push_back(static_cast<std::int64_t>(atom));
        } // faces do not cut it
    }
    return data;
}

// nve.mdp with groups that are accelerated.
inline Refdata accelerated(ComMode mode, std::vector<AcceleratedGroup> groups)
{
    Refdata data = in_groups();
    data.parameters.accelerated_groups = std::move(groups);
    data.parameters.com_mode = mode, data.parameters.com_interval = 5;
    return data;
}
inline Refdata accelerated(ComMode mode) { return accelerated(mode, {{"ETH", {0.5, 0, 1}}, {"SOL", {0, 0, -0.2}}}); }
inline Refdata accelerated_from_rest()
{
    Refdata data = accelerated(ComMode::LinearWithDisplacement, {{"ETH", {0.5, 0, 1}}});
    data.parameters.com_groups = {"ETH", "SOL"};
    return data;
}

// nve.mdp with the rotation of one molecule removed.
inline Refdata without_rotation()
{
    Refdata data = in_groups();
    data.parameters.com_mode = ComMode::Angular, data.parameters.com_interval = 3;
    data.parameters.com_groups = {"ONE"};
    return data;
}

} // namespace parhelion::test
