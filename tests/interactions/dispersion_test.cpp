// SPDX-License-Identifier: Apache-2.0
#include "base/units.hpp"
#include "interactions/pair/dispersion.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// The potential r^-n as the engine simulates it, by the definitions of the manual.
double simulated(const RunParameters& p, int n, double r)
{
    const double rc = p.lj_cutoff, r1 = p.lj_switch;
    if (r >= rc) { return 0; }
    if (p.lj_modifier == LjModifier::None) { return std::pow(r, -n); }
    if (p.lj_modifier == LjModifier::PotentialShift) { return std::pow(r, -n) - std::pow(rc, -n); }
    if (p.lj_modifier == LjModifier::PotentialSwitch)
    {
        const double x = std::max(0.0, (r - r1) / (rc - r1));
        return std::pow(r, -n) * (1 - 10 * std::pow(x, 3) + 15 * std::pow(x, 4) - 6 * std::pow(x, 5));
    }
    // The force of the force switch is integrated from the cut-off inwards: no closed form of the potential is used.
    const double w = rc - r1, scale = n / std::pow(rc, n + 2) / (w * w);
    const double a = -scale * ((n + 4) * rc - (n + 1) * r1), b = scale / w * ((n + 3) * rc - (n + 1) * r1);
    const auto switched = [&](double s) { return a * s * s + b * s * s * s; };
    const double from = std::max(r, r1) - r1;
    const int intervals = 200;
    double area = 0;
    for (int i = 0; i < intervals; ++i) // Simpson's rule is exact for cubics
    {
        const double s0 = from + (w - from) * i / intervals, s1 = from + (w - from) * (i + 1) / intervals;
        area += (s1 - s0) / 6 * (switched(s0) + 4 * switched((s0 + s1) / 2) + switched(s1));
    }
    return std::pow(r, -n) - std::pow(rc, -n) + area;
}

double integral(const std::function<double(double)>& f, double from, double to)
{
    const int n = 2000;
    const double h = (to - from) / n;
    double sum = 0;
    for (int i = 0; i < n; ++i) { sum += h / 6 * (f(from + i * h) + 4 * f(from + (i + 0.5) * h) + f(from + (i + 1) * h)); }
    return sum;
}

// One kind of atom, no exclusions.
Topology lone_atoms(std::int64_t count)
{
    Topology topology;
    topology.type_names = {"A"};
    topology.c6 = {0.006}, topology.c12 = {1e-6};
    MoleculeType atom;
    atom.atoms = {{"A", 0, 0, 40, 0}};
    atom.exclusion_start = {0, 0};
    topology.molecule_types = {atom};
    topology.blocks = {{0, count, 0}};
    topology.finish();
    return topology;
}

RunParameters corrected(LjModifier modifier)
{
    RunParameters p;
    p.lj_modifier = modifier;
    p.lj_cutoff = 1.1;
    p.lj_switch = 0.9;
    p.dispersion_correction = DispersionCorrection::EnergyPressure;
    return p;
}

} // namespace

TEST(Dispersion, energy_and_pressure_are_those_of_the_reference)
{
    for (const std::string& name : refdata_systems)
    {
        const Refdata data = load_refdata(name);
        const DispersionTail tail = make_dispersion_correction(data.system.topology, data.parameters);
        const EnergyTable reference = refdata_energies(name);
        const double volume = data.system.box.diagonal().x * data.system.box.diagonal().y * data.system.box.diagonal().z;
        EXPECT_NEAR(tail.energy(volume) / reference["Disper. corr."], 1, 1e-9) << name;
        EXPECT_NEAR(tail.pressure(volume) / reference["Pres. DC"], 1, 1e-9) << name;
    }
}

TEST(Dispersion, follows_the_volume_of_the_reference)
{
    const Refdata data = load_refdata("spce");
    const DispersionTail tail = make_dispersion_correction(data.system.topology, data.parameters);
    const auto series = refdata_energy_series("spce", "nhpr");
    ASSERT_EQ(series.size(), 101U);
    for (const EnergyTable& step : series)
    {
        EXPECT_NEAR(tail.energy(step["Volume"]) / step["Disper. corr."], 1, 1e-9) << step["Time"];
        EXPECT_NEAR(tail.pressure(step["Volume"]) / step["Pres. DC"], 1, 1e-9) << step["Time"];
    }
    EXPECT_NE(series.back()["Volume"], series.front()["Volume"]);
}

TEST(Dispersion, is_the_integral_of_what_the_modifier_takes_away)
{
    const std::int64_t n = 1000;
    const double volume = 50, rho = static_cast<double>(n) / volume;
    for (const LjModifier modifier :
         {LjModifier::None, LjModifier::PotentialShift, LjModifier::ForceSwitch, LjModifier::PotentialSwitch})
    {
        RunParameters p = corrected(modifier);
        const double of_attraction = make_dispersion_correction(lone_atoms(n), p).energy(volume);
        p.dispersion_correction = DispersionCorrection::AllEnergy;
        const double of_repulsion = make_dispersion_correction(lone_atoms(n), p).energy(volume) - of_attraction;
        for (const auto& [power, coefficient, energy] : {std::tuple(6, -0.006, of_attraction), {12, 1e-6, of_repulsion}})
        {
            const auto missing = [&, power = power](double r) { return std::pow(r, -power) - simulated(p, power, r); };
            // Below lj_switch the difference is constant. Beyond the cut-off the integral is closed.
            const double rc = p.lj_cutoff, r1 = p.lj_switch, at_zero = missing(r1 / 2);
            EXPECT_NEAR(missing(r1 * 0.9), at_zero, 1e-9);
            const double within = integral([&](double r) { return r * r * missing(r); }, r1, rc * (1 - 1e-15)),
                         total = 4 * units::pi * (at_zero * std::pow(r1, 3) / 3 + within + std::pow(rc, 3 - power) / (power - 3));
            EXPECT_NEAR(energy, 0.5 * static_cast<double>(n) * coefficient * (rho * total - at_zero), 1e-8 * std::abs(energy));
        }
    }
}

TEST(Dispersion, virial_is_half_the_derivative_by_strain_where_the_potential_is_continuous)
{
    for (const LjModifier modifier : {LjModifier::PotentialShift, LjModifier::ForceSwitch, LjModifier::PotentialSwitch})
    {
        for (const DispersionCorrection asked : {DispersionCorrection::EnergyPressure, DispersionCorrection::AllEnergyPressure})
        {
            RunParameters p = corrected(modifier);
            p.dispersion_correction = asked;
            const DispersionTail tail = make_dispersion_correction(lone_atoms(1000), p);
            const double v = 50, h = 1e-4;
            const double slope =
                (tail.energy(v * (1 + h)) - tail.energy(v * (1 - h))) / (2 * h); // V dE/dV, one direction strained
            EXPECT_NEAR(tail.virial(v), 0.5 * slope, 1e-7 * std::abs(slope));
            EXPECT_NEAR(tail.pressure(v), -2 * tail.virial(v) / v * units::bar_per_kj_mol_nm3,
                        1e-12 * std::abs(tail.pressure(v)));
        }
    }
}

TEST(Dispersion, a_plain_cutoff_has_the_textbook_tail)
{
    // Allen and Tildesley, Computer Simulation of Liquids: E = -2/3 pi N rho c6/rc^3, P = -4/3 pi rho^2 c6/rc^3; with the
    // repulsion, E + 2/9 pi N rho c12/rc^9, P + 8/9 pi rho^2 c12/rc^9.
    const DispersionTail tail = make_dispersion_correction(lone_atoms(1000), corrected(LjModifier::None));
    const double v = 50, rho = 20, rc3 = 1.1 * 1.1 * 1.1;
    EXPECT_NEAR(tail.energy(v), -2.0 / 3 * units::pi * 1000 * rho * 0.006 / rc3, 1e-10);
    EXPECT_NEAR(tail.pressure(v), -4.0 / 3 * units::pi * rho * rho * 0.006 / rc3 * units::bar_per_kj_mol_nm3, 1e-10);
    RunParameters p = corrected(LjModifier::None);
    p.dispersion_correction = DispersionCorrection::AllEnergyPressure;
    const DispersionTail both = make_dispersion_correction(lone_atoms(1000), p);
    const double rc9 = rc3 * rc3 * rc3;
    EXPECT_NEAR(both.energy(v) - tail.energy(v), 2.0 / 9 * units::pi * 1000 * rho * 1e-6 / rc9, 1e-10);
    EXPECT_NEAR(both.pressure(v) - tail.pressure(v), 8.0 / 9 * units::pi * rho * rho * 1e-6 / rc9 * units::bar_per_kj_mol_nm3,
                1e-10);
}

TEST(Dispersion, corrects_no_more_than_is_asked_for)
{
    RunParameters p = corrected(LjModifier::PotentialShift);
    const double both = make_dispersion_correction(lone_atoms(1000), p).energy(50);
    p.dispersion_correction = DispersionCorrection::Energy;
    EXPECT_EQ(make_dispersion_correction(lone_atoms(1000), p).energy(50), both);
    EXPECT_EQ(make_dispersion_correction(lone_atoms(1000), p).pressure(50), 0);
    p.dispersion_correction = DispersionCorrection::AllEnergy;
    EXPECT_GT(make_dispersion_correction(lone_atoms(1000), p).energy(50), both);
    EXPECT_EQ(make_dispersion_correction(lone_atoms(1000), p).pressure(50), 0);
    p.dispersion_correction = DispersionCorrection::None;
    EXPECT_EQ(make_dispersion_correction(lone_atoms(1000), p).energy(50), 0);
    EXPECT_EQ(make_dispersion_correction(lone_atoms(1000), p).pressure(50), 0);
}

TEST(Dispersion, mean_is_that_of_the_pairs_that_are_not_excluded)
{
    // Two types, molecules of three atoms whose first two exclude each other; every pair counted one by one.
    Topology topology;
    topology.type_names = {"A", "B"};
    topology.c6 = {1, 5, 5, 30}, topology.c12 = {0, 0, 0, 0};
    MoleculeType triple, single;
    triple.atoms = {{"A", 0, 0, 1, 0}, {"B", 1, 0, 1, 0}, {"B", 1, 0, 1, 0}};
    triple.exclusion_start = {0, 1, 2, 2}, triple.excluded = {1, 0};
    single.atoms = {{"A", 0, 0, 1, 0}};
    single.exclusion_start = {0, 0};
    topology.molecule_types = {triple, single};
    topology.blocks = {{0, 3, 0}, {1, 2, 0}, {0, 1, 0}};
    topology.finish();
    double sum = 0, pairs = 0;
    for (std::int64_t i = 0; i < topology.atom_count(); ++i)
    {
        for (std::int64_t j = i + 1; j < topology.atom_count(); ++j)
        {
            const AtomAddress a = topology.locate(i), b = topology.locate(j);
            if (a.molecule_first_atom == b.molecule_first_atom && a.local == 0 && b.local == 1) { continue; }
            sum += topology.c6[static_cast<std::size_t>(topology.atom(i).type * 2 + topology.atom(j).type)];
            ++pairs;
        }
    }
    EXPECT_NEAR(mean_over_pairs(topology, topology.c6), sum / pairs, 1e-14 * sum);
    const Topology alone = lone_atoms(1);
    EXPECT_EQ(mean_over_pairs(alone, alone.c6), 0);
}
