// SPDX-License-Identifier: Apache-2.0
#include "pairs/list_conditions.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "pairs/crowding.hpp"
#include "state/periodic_box.hpp"

#include <algorithm>
#include <bit>

namespace parhelion {

namespace {

// The crowding up to which a box counts as even. Chance, order in a liquid or crystal, and exclusions between different
// cells make some per cent. The error of missing pairs is proportional to the crowding, and far below 0.1 kT/ns.
constexpr double tolerated_crowding = 1.25;

double next_on_ladder(double from, double at_least, double ratio)
{
    while (from < at_least) { from *= ratio; }
    return from;
}

// Sums over atoms: kinetic energies, kJ/mol, squares of these, and degrees of freedom.
struct Heat
{
    double energy = 0, squares = 0, atoms = 0, degrees_of_freedom = 0;

    double temperature() const { return 2 * energy / (std::max(1.0, degrees_of_freedom) * units::boltzmann); }
    // Returns sure_temperature() of the mean over atoms, weighted by kinetic energy, which a few hot among many cold atoms
    // dominate. An atom with f degrees of freedom has <e^2> / <e> = (f + 2) / 2 kT. Chance varies it as if f were 1.8 times less.
    double sure_hot_temperature() const
    {
        if (!(energy > 0)) { return 0; }
        const double of_atom = degrees_of_freedom / atoms, t = 2 / (of_atom + 2) * squares / energy / units::boltzmann;
        return sure_temperature(t, degrees_of_freedom / 1.8);
    }
    Heat& operator+=(const Heat& more)
    {
        energy += more.energy, squares += more.squares;
        atoms += more.atoms, degrees_of_freedom += more.degrees_of_freedom;
        return *this;
    }
};

Heat heat_of(const System& system, const MoleculeBlock& block)
{
    const MoleculeType& molecule = system.topology.molecule_types[static_cast<std::size_t>(block.type)];
    const double constraints = static_cast<double>(molecule.constraints.size() + 3 * molecule.settles.size());
    const double copies = static_cast<double>(block.count);
    double atoms = 0, axes = 0; // number of moving atoms and of their axes; virtual sites do not count
    for (const Atom& atom : molecule.atoms)
    {
        const int moving = atom.mass > 0 ? 3 - std::popcount(atom.frozen) : 0;
        atoms += moving > 0 ? 1 : 0, axes += moving;
    }
    Heat heat{0, 0, copies * atoms, copies * (axes - constraints)};
    auto g = static_cast<std::size_t>(block.first_atom);
    for (std::int64_t copy = 0; copy < block.count; ++copy)
    {
        for (const Atom& atom : molecule.atoms)
        {
            const double energy = 0.5 * atom.mass * norm2(system.v[g++]);
            heat.energy += energy, heat.squares += energy * energy;
        }
    }
    return heat;
}

bool is_held_to_a_temperature(const RunParameters& run)
{
    if (run.integrator != Integrator::StochasticDynamics && run.thermostat == Thermostat::None) { return false; }
    const auto& groups = run.temperature_groups;
    return std::all_of(groups.begin(), groups.end(), [](const TemperatureGroup& group) { return group.tau > 0; });
}

double start_temperature(const System& system, const RunParameters& run)
{
    double t = run.generate_velocities ? run.generation_temperature : 0;
    for (const TemperatureGroup& group : run.temperature_groups) { t = std::max(t, highest_reference(group)); }
    if (!is_held_to_a_temperature(run) || t == 0) { t = std::max(t, free_temperature); }
    if (run.generate_velocities || system.v.empty()) { return t; }
    Heat all;
    std::vector<Heat> of_type(system.topology.molecule_types.size());
    for (const MoleculeBlock& block : system.topology.blocks)
    {
        const Heat heat = heat_of(system, block);
        all += heat, of_type[static_cast<std::size_t>(block.type)] += heat;
    }
    t = std::max(t, all.temperature());
    for (const Heat& heat : of_type) { t = risen_temperature(t, heat.sure_hot_temperature()); }
    return t;
}

std::vector<double> start_crowding(const System& system, const RunParameters& run)
{
    const double volume = system.box.volume(), density = static_cast<double>(system.topology.atom_count()) / volume;
    const auto classes = static_cast<std::size_t>(crowding_classes(system.topology));
    const std::vector<double> planned(classes * classes, std::max(1.0, least_density / density));
    std::vector<Vec3<std::uint32_t>> x;
    const PeriodicBox<Mixed> box(system.box);
    for (const Vec3<double>& nm : system.x) { x.push_back(box.to_fixed(nm)); }
    const double cutoff = std::max(run.lj_cutoff, run.coulomb_cutoff);
    return risen_crowding(planned, measure_crowding(system.topology, system.box, cutoff, volume, x));
}

} // namespace

double most_crowded(const ListConditions& conditions)
{
    return *std::max_element(conditions.crowding.begin(), conditions.crowding.end());
}

ListConditions start_conditions(const System& system, const RunParameters& run)
{
    return {start_temperature(system, run), start_crowding(system, run)};
}

double risen_temperature(double planned, double sure)
{
    constexpr double rung = 1.1;
    return sure > planned ? next_on_ladder(planned, rung * sure, rung) : planned;
}

std::vector<double> risen_crowding(const std::vector<double>& planned, const std::vector<double>& measured)
{
    PARHELION_EXPECTS(planned.size() == measured.size());
    std::vector<double> risen = planned;
    for (std::size_t i = 0; i < risen.size(); ++i)
    {
        if (measured[i] > tolerated_crowding * planned[i])
        {
            risen[i] = next_on_ladder(planned[i], measured[i], tolerated_crowding);
        }
    }
    return risen;
}

} // namespace parhelion
