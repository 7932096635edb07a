// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/dispersion.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "interactions/mesh/mesh_dispersion.hpp"
#include "interactions/pair/nonbonded.hpp"

#include <cmath>

namespace parhelion {

namespace {

// What the cut-off and the modifier take away from the potential r^-p: dV(0), I and J, which dispersion.hpp defines.
struct Missing
{
    double at_zero = 0, potential = 0, force = 0;
};

// start * factor^n
double times_power(double start, double factor, int n)
{
    for (; n > 0; --n) { start *= factor; }
    return start;
}

// int_r1^rc r^2 u(r) / r^p dr of the potential switch, by Simpson's rule in ln r: the closed form loses digits where r1 is near
// rc. The relative error is below 1e-11 for r1 > rc / 10 and p up to 12.
double potential_switched_off(int p, double r1, double rc)
{
    PARHELION_EXPECTS(r1 > 0);
    constexpr int intervals = 4000;
    const double h = std::log(rc / r1) / intervals;
    double sum = 0;
    for (int i = 1; i <= intervals; ++i) // u is 0 at r1
    {
        const double r = r1 * std::exp(h * i), t = r - r1;
        double u = 0;
        for (int power = 2; power >= 0; --power) { u = u * t + potential_switch(power, r1, rc); }
        sum += (i == intervals ? 1 : i % 2 == 1 ? 4 : 2) * u * t * t * t / times_power(1, r, p - 3);
    }
    return sum * h / 3;
}

Missing missing_power(int p, const RunParameters& parameters)
{
    const double rc = parameters.lj_cutoff;
    const double tail = 4 * units::pi / times_power(p - 3, rc, p - 3); // int_rc^inf 4 pi r^2 r^-p dr
    if (parameters.lj_modifier == LjModifier::None) { return {0, tail, p * tail}; }
    if (parameters.lj_modifier == LjModifier::PotentialShift)
    {
        const double shift = 1 / std::pow(rc, p);
        const double potential = tail + shift * 4 * units::pi / 3 * rc * rc * rc;
        return {shift, potential, 3 * potential};
    }
    if (parameters.lj_modifier == LjModifier::PotentialSwitch)
    {
        const double potential = tail + 4 * units::pi * potential_switched_off(p, parameters.lj_switch, rc);
        return {0, potential, 3 * potential};
    }
    // Force switch: with s = r - r1, w = rc - r1, the potential is that of r^-p - a/3 s^3 - b/4 s^4 - c in [r1, rc] and r^-p - c
    // below r1.
    const double r1 = parameters.lj_switch, w = rc - r1;
    PARHELION_EXPECTS(w > 0);
    const auto [c, a, b] = force_switch(p, r1, rc);
    // int_r1^rc r^2 s^n dr
    const auto moment = [&](int n) { return std::pow(w, n + 1) * (r1 * r1 / (n + 1) + 2 * r1 * w / (n + 2) + w * w / (n + 3)); };
    const double within = c * rc * rc * rc / 3 + a / 3 * moment(3) + b / 4 * moment(4);
    const double potential = tail + 4 * units::pi * within;
    return {c, potential, 3 * potential};
}

} // namespace

double mean_over_pairs(const Topology& topology, const std::vector<double>& of_types)
{
    const auto types = static_cast<std::size_t>(topology.types());
    std::vector<double> atoms(types, 0); // number of atoms of each type in the whole system
    double sum = 0, pairs = 0;           // excluded pairs are subtracted first
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& molecule = topology.molecule_types[static_cast<std::size_t>(block.type)];
        const auto copies = static_cast<double>(block.count);
        for (std::size_t i = 0; i < molecule.atoms.size(); ++i)
        {
            const auto type = static_cast<std::size_t>(molecule.atoms[i].type);
            atoms[type] += copies;
            for (auto e = molecule.exclusion_start[i]; e < molecule.exclusion_start[i + 1]; ++e)
            {
                const auto j = static_cast<std::size_t>(molecule.excluded[static_cast<std::size_t>(e)]);
                if (j < i) { continue; } // each pair is listed for both of its atoms
                sum -= copies * of_types[type * types + static_cast<std::size_t>(molecule.atoms[j].type)];
                pairs -= copies;
            }
        }
    }
    for (std::size_t a = 0; a < types; ++a)
    {
        for (std::size_t b = a; b < types; ++b)
        {
            const double of_both = a == b ? atoms[a] * (atoms[a] - 1) / 2 : atoms[a] * atoms[b];
            sum += of_both * of_types[a * types + b];
            pairs += of_both;
        }
    }
    return pairs > 0 ? sum / pairs : 0;
}

DispersionTail make_dispersion_correction(const Topology& topology, const RunParameters& parameters)
{
    DispersionTail tail;
    const DispersionCorrection asked = parameters.dispersion_correction;
    if (asked == DispersionCorrection::None) { return tail; }
    const bool of_all = asked == DispersionCorrection::AllEnergy || asked == DispersionCorrection::AllEnergyPressure;
    const bool of_pressure = asked == DispersionCorrection::EnergyPressure || asked == DispersionCorrection::AllEnergyPressure;
    const auto atoms = static_cast<double>(topology.atom_count());
    const auto add = [&](int power, double coefficient) {
        const Missing missing = missing_power(power, parameters);
        const double scale = 0.5 * atoms * coefficient;
        tail.energy_per_density_ += scale * atoms * missing.potential;
        tail.energy_constant_ -= scale * missing.at_zero;
        if (of_pressure) { tail.virial_per_density_ -= scale * atoms * missing.force / 6; }
    };
    std::vector<double> c6 = topology.c6;
    if (parameters.has_lj_mesh)
    {
        const std::vector<double> of_mesh = mesh_c6(topology, parameters);
        for (std::size_t i = 0; i < c6.size(); ++i) { c6[i] -= of_mesh[i]; }
    }
    add(6, -mean_over_pairs(topology, c6));
    if (of_all) { add(12, mean_over_pairs(topology, topology.c12)); }
    return tail;
}

} // namespace parhelion
