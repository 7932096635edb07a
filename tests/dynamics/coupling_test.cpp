// SPDX-License-Identifier: Apache-2.0
// Thermostats and barostats on an ideal gas, whose ensembles have closed forms: kinetic energy follows the gamma distribution,
// the volume at constant pressure the density V^N exp(-P V / kT).
#include "base/error.hpp"
#include "base/units.hpp"
#include "dynamics/barostat_body.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/thermostat.hpp"
#include "dynamics/toy_systems.hpp"
#include "model/coupling_error.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr double reference_temperature = 300;
const double kt = units::boltzmann * reference_temperature;

Vec3<double> everywhere(double of_each_axis) { return {of_each_axis, of_each_axis, of_each_axis}; }

struct Moments
{
    double n = 0, sum = 0, squares = 0;
    void add(double x) { n += 1, sum += x, squares += x * x; }
    double mean() const { return sum / n; }
    double variance() const { return squares / n - mean() * mean(); }
};

RunParameters coupled(Thermostat thermostat, double tau_t, Barostat barostat = Barostat::None)
{
    RunParameters parameters;
    parameters.dt = 0.01;
    parameters.thermostat = thermostat;
    parameters.temperature_interval = 1;
    parameters.temperature_groups = {{"System", tau_t, reference_temperature}};
    parameters.barostat = barostat;
    parameters.pressure_interval = 1;
    return parameters;
}

// An ideal gas in which the kinetic energies alone evolve: the thermostat's own dynamics.
struct Gas
{
    ParticleState<Double> state;
    CpuQueue queue{1};
    KineticEnergies half_step;

    Gas(int atoms, double edge, double start_temperature)
        : state(
              particles_in_input_order<Double>(toy_system({{single_atom(20), atoms}}, {edge, edge, edge}, start_temperature, 1)))
    {
        half_step = compute_kinetic(queue, state, 1);
    }
    void kick_only(double dt, const VelocityCoupling& coupling)
    {
        kick(queue, kick_coefficients(dt, 1, coupling), state);
        half_step = compute_kinetic(queue, state, 1);
    }
};

} // namespace

TEST(VRescale, gives_the_canonical_mean_and_variance_of_the_kinetic_energy)
{
    constexpr int atoms = 8, dof = 3 * atoms;
    Gas gas(atoms, 3, 500);
    const RunParameters parameters = coupled(Thermostat::VRescale, 0.05);
    const TemperatureCoupling coupling = make_temperature_coupling(parameters, {dof}, 99);
    std::vector<ThermostatState> state = initial_state(coupling);
    Moments kinetic;
    const double start = gas.half_step.energy();
    for (int step = 0; step < 60000; ++step)
    {
        VelocityCoupling velocities;
        couple_temperature(coupling, step, gas.half_step, state, velocities);
        gas.kick_only(parameters.dt, velocities);
        if (step > 100) { kinetic.add(gas.half_step.energy() / kt); }
    }
    // Memory tau / dt = 5 steps for the energy: about 6000 independent values.
    EXPECT_NEAR(kinetic.mean(), 0.5 * dof, 4 * std::sqrt(0.5 * dof / 6000));
    EXPECT_NEAR(kinetic.variance(), 0.5 * dof, 4 * 0.5 * dof * std::sqrt((2 + 12.0 / dof) / 6000));
    // Nothing else changes the energy here, so the conserved energy is exact.
    EXPECT_NEAR(gas.half_step.energy() + conserved_contribution(coupling, state), start, 1e-8);
}

TEST(VRescale, repeats_its_numbers_for_the_same_seed_and_step)
{
    const TemperatureCoupling coupling = make_temperature_coupling(coupled(Thermostat::VRescale, 0.1), {30}, 5);
    const KineticEnergies kinetic{{Mat3<double>{{{12, 0, 0}, {0, 13, 0}, {0, 0, 14}}}}};
    const auto scale = [&](std::int64_t step) {
        std::vector<ThermostatState> state = initial_state(coupling);
        VelocityCoupling velocities;
        couple_temperature(coupling, step, kinetic, state, velocities);
        return velocities.scale[0];
    };
    EXPECT_EQ(scale(7), scale(7));
    EXPECT_NE(scale(7), scale(8));
}

TEST(Berendsen, relaxes_the_temperature_exponentially_and_counts_the_heat)
{
    Gas gas(200, 3, 330);
    RunParameters parameters = coupled(Thermostat::Berendsen, 2);
    const TemperatureCoupling coupling = make_temperature_coupling(parameters, {600}, 0);
    std::vector<ThermostatState> state = initial_state(coupling);
    const double start = gas.half_step.energy();
    const double difference = temperature(start, 600) - reference_temperature;
    for (int step = 0; step < 200; ++step)
    {
        VelocityCoupling velocities;
        couple_temperature(coupling, step, gas.half_step, state, velocities);
        gas.kick_only(parameters.dt, velocities);
    }
    // dT/dt = (T0 - T) / tau for 2 ps; Euler's discretisation.
    EXPECT_NEAR((temperature(gas.half_step.energy(), 600) - reference_temperature) / difference, std::pow(1 - 0.005, 200), 1e-10);
    EXPECT_NEAR(gas.half_step.energy() + conserved_contribution(coupling, state), start, 1e-9);
}

TEST(NoseHoover, oscillates_with_the_period_it_is_given_and_conserves_its_energy)
{
    // Without other forces ln K obeys a closed one-dimensional equation; for small amplitudes it oscillates with period tau /
    // sqrt(2), the period of the heat exchange being tau for a system whose potential energy takes half the heat.
    Gas gas(500, 3, 310);
    RunParameters parameters = coupled(Thermostat::NoseHoover, 1);
    parameters.dt = 0.001;
    const TemperatureCoupling coupling = make_temperature_coupling(parameters, {1500}, 0);
    std::vector<ThermostatState> state = initial_state(coupling);
    Moments conserved;
    std::vector<int> crossings;
    double previous = 0;
    for (int step = 0; step < 4000; ++step)
    {
        const double before = gas.half_step.energy();
        VelocityCoupling velocities;
        couple_temperature(coupling, step, gas.half_step, state, velocities);
        gas.kick_only(parameters.dt, velocities);
        conserved.add((0.5 * (before + gas.half_step.energy()) + conserved_contribution(coupling, state)) / kt);
        const double deviation = temperature(gas.half_step.energy(), 1500) - reference_temperature;
        if (previous < 0 && deviation >= 0) { crossings.push_back(step); }
        previous = deviation;
    }
    ASSERT_GE(crossings.size(), 4u);
    const double period = 0.001 * (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
    EXPECT_NEAR(period, 1 / std::sqrt(2.0), 0.01);
    EXPECT_LT(std::sqrt(conserved.variance()), 0.02); // of 750 kT, while the kinetic energy swings by 25
}

TEST(Thermostats, leave_groups_alone_that_have_no_time_constant)
{
    for (const Thermostat kind : {Thermostat::VRescale, Thermostat::Berendsen, Thermostat::NoseHoover, Thermostat::None})
    {
        RunParameters parameters = coupled(kind, 0.1);
        parameters.temperature_groups.push_back({"free", -1, 300});
        const TemperatureCoupling coupling = make_temperature_coupling(parameters, {30, 30}, 1);
        std::vector<ThermostatState> state = initial_state(coupling);
        const Mat3<double> hot{{{50, 0, 0}, {0, 50, 0}, {0, 0, 50}}};
        VelocityCoupling velocities;
        couple_temperature(coupling, 3, {{hot, hot}}, state, velocities);
        const KickCoefficients kick = kick_coefficients(0.002, 2, velocities);
        EXPECT_EQ(kick.group[1].keep, (Vec3<double>{1, 1, 1}));
        EXPECT_EQ(kick.group[1].push, (Vec3<double>{0.002, 0.002, 0.002}));
        EXPECT_EQ(kick.group[0].keep.x < 1, kind != Thermostat::None);
    }
}

TEST(Thermostats, refuse_a_coupled_group_without_a_degree_of_freedom)
{
    RunParameters parameters = coupled(Thermostat::VRescale, 0.1);
    EXPECT_NO_THROW(make_temperature_coupling(parameters, {1}, 1));
    EXPECT_THROW(make_temperature_coupling(parameters, {0.6}, 1), InputError);
    EXPECT_THROW(make_temperature_coupling(parameters, {0}, 1), InputError);
    parameters.temperature_groups[0].tau = -1;
    EXPECT_NO_THROW(make_temperature_coupling(parameters, {0.6}, 1));
}

TEST(Coupling, acts_in_the_step_after_each_multiple_of_its_interval)
{
    EXPECT_TRUE(couples(0, 1));
    EXPECT_TRUE(couples(5, 1));
    EXPECT_FALSE(couples(0, 10));
    EXPECT_TRUE(couples(1, 10));
    EXPECT_FALSE(couples(10, 10));
    EXPECT_TRUE(couples(11, 10));
}

namespace {

// The pressure of an ideal gas from the mean of its two half-step kinetic energies.
double ideal_pressure(const KineticEnergies& kinetic, double volume)
{
    return trace(pressure_tensor(kinetic.total(), {}, volume)) / 3;
}

} // namespace

TEST(CRescale, gives_the_volume_distribution_of_the_ideal_gas)
{
    // p(V) ~ V^N exp(-P V / kT): mean (N + 1) kT / P, variance (N + 1) (kT / P)^2. The kinetic energy is resampled at every step.
    constexpr int atoms = 20;
    const double pressure = 50;                                    // bar
    const double unit = kt * units::bar_per_kj_mol_nm3 / pressure; // nm^3
    Gas gas(atoms, std::cbrt(atoms * unit), reference_temperature);
    RunParameters parameters = coupled(Thermostat::VRescale, 0.01, Barostat::CRescale);
    parameters.tau_p = 1;
    parameters.reference_pressure = everywhere(pressure);
    parameters.compressibility = everywhere(1 / pressure);
    const TemperatureCoupling thermostat = make_temperature_coupling(parameters, {3 * atoms}, 3);
    const PressureCoupling barostat = make_pressure_coupling(parameters, 4);
    std::vector<ThermostatState> thermostat_state = initial_state(thermostat);
    BarostatState barostat_state;
    Moments volume;
    const double start = gas.half_step.energy();
    const int steps = 400000;
    for (int step = 0; step < steps; ++step)
    {
        VelocityCoupling velocities;
        couple_temperature(thermostat, step, gas.half_step, thermostat_state, velocities);
        gas.kick_only(parameters.dt, velocities);
        const double p = ideal_pressure(gas.half_step, gas.state.box.edges().volume());
        complete_work(barostat, {}, barostat_state);
        scale_box(gas.queue, barostat, step, {{}, everywhere(p)}, barostat_state, gas.half_step, gas.state);
        if (step > steps / 20) { volume.add(gas.state.box.edges().volume() / unit); }
    }
    // Memory tau_p = 100 steps: 1900 independent values of the volume.
    EXPECT_NEAR(volume.mean(), atoms + 1, 4 * std::sqrt((atoms + 1) / 1900.0));
    EXPECT_NEAR(volume.variance(), atoms + 1, 4 * (atoms + 1) * std::sqrt(2.4 / 1900));
    complete_work(barostat, {}, barostat_state);
    const double conserved = gas.half_step.energy() + conserved_contribution(thermostat, thermostat_state) +
                             conserved_contribution(barostat, gas.state.box.edges().diagonal(), barostat_state);
    EXPECT_NEAR(conserved, start, 1e-9);
}

TEST(CRescale, leaves_no_drift_in_the_conserved_energy)
{
    // A stiff potential of the volume, U = a V^-8 + b V, at its minimum; the noise moves V, the energy must be accounted for. By
    // the rule with one end only it would grow by <s^2> U'' / 2 at every step.
    Gas gas(20, 3, reference_temperature);
    RunParameters parameters = coupled(Thermostat::None, 1, Barostat::CRescale);
    parameters.tau_p = 1;
    parameters.compressibility = everywhere(0.02);
    const PressureCoupling coupling = make_pressure_coupling(parameters, 12);
    const double a = 20, b = 160;
    const auto ratio = [&] { return gas.state.box.edges().volume() / 27; };
    const auto energy = [&] { return a * std::pow(ratio(), -8) + b * ratio(); };
    const auto virial = [&] { return 1.5 * (-8 * a * std::pow(ratio(), -8) + b * ratio()); }; // 1/2 dU/ds, V ~ exp(3 s)
    BarostatState state;
    const auto conserved = [&] {
        return gas.half_step.energy() + energy() + conserved_contribution(coupling, gas.state.box.edges().diagonal(), state);
    };
    const double start = conserved();
    double one_ended = 0;
    const int steps = 2000;
    for (int step = 0; step < steps; ++step)
    {
        const double p = ideal_pressure(gas.half_step, gas.state.box.edges().volume()) -
                         2 * virial() / (3 * gas.state.box.edges().volume()) * units::bar_per_kj_mol_nm3;
        const double before = virial();
        scale_box(gas.queue, coupling, step, {everywhere(before / 3), everywhere(p)}, state, gas.half_step, gas.state);
        one_ended += state.pending_strain.x * (virial() - before);
        complete_work(coupling, everywhere(virial() / 3), state);
    }
    EXPECT_GT(std::abs(one_ended), 50); // what the trapezoidal rule is for
    EXPECT_LT(std::abs(conserved() - start), 0.01 * std::abs(one_ended));
}

TEST(BerendsenBarostat, relaxes_the_volume_of_an_ideal_gas_to_its_pressure)
{
    constexpr int atoms = 1000;
    const double pressure = 20;
    Gas gas(atoms, std::cbrt(atoms * kt * units::bar_per_kj_mol_nm3 / 25), reference_temperature);
    RunParameters parameters = coupled(Thermostat::None, 1, Barostat::Berendsen);
    parameters.tau_p = 1;
    parameters.reference_pressure = everywhere(pressure);
    parameters.compressibility = everywhere(1 / pressure);
    const PressureCoupling coupling = make_pressure_coupling(parameters, 0);
    BarostatState state;
    const double kinetic = gas.half_step.energy();
    const double goal = kinetic * 2 / 3 * units::bar_per_kj_mol_nm3 / pressure; // nm^3
    const double start = gas.state.box.edges().volume() / goal;
    for (int step = 0; step < 200; ++step)
    {
        const double p = ideal_pressure(gas.half_step, gas.state.box.edges().volume());
        scale_box(gas.queue, coupling, step, {{}, everywhere(p)}, state, gas.half_step, gas.state);
    }
    EXPECT_EQ(gas.half_step.energy(), kinetic);
    // With this compressibility dV/dt = (V0 - V) / tau_p exactly, for 2 ps; Euler's error is of order dt.
    EXPECT_NEAR((gas.state.box.edges().volume() / goal - 1) / (start - 1), std::exp(-2.0), 0.01);
    EXPECT_NEAR(gas.state.box.edges().diagonal().x, gas.state.box.edges().diagonal().z, 1e-12);
}

TEST(BerendsenBarostat, counts_the_work_on_a_potential_to_second_order)
{
    // U = a V^-4: strain s of the edges changes it to U exp(-12 s); virial trace = 1/2 dU/ds = -6 U.
    Gas gas(10, 3, 0);
    RunParameters parameters = coupled(Thermostat::None, 1, Barostat::Berendsen);
    parameters.compressibility = everywhere(1e-3);
    parameters.reference_pressure = everywhere(0);
    const PressureCoupling coupling = make_pressure_coupling(parameters, 0);
    const auto energy = [&] { return 1000 * std::pow(gas.state.box.edges().volume() / 27, -4); };
    BarostatState state;
    const double start = energy();
    for (int step = 0; step < 20; ++step)
    {
        complete_work(coupling, everywhere(-2 * energy()), state);
        EXPECT_NEAR(energy() + conserved_contribution(coupling, gas.state.box.edges().diagonal(), state), start,
                    1e-3 * (start - energy() + 1e-9));
        scale_box(gas.queue, coupling, step, {everywhere(-2 * energy()), everywhere(200)}, state, gas.half_step, gas.state);
    }
    EXPECT_LT(energy(), 0.95 * start);
}

TEST(ParrinelloRahman, conserves_its_energy_for_an_ideal_gas_in_any_rectangular_box)
{
    // Velocities feel the box through the drag alone. Start well away from the equilibrium volume.
    constexpr int atoms = 400;
    const double pressure = 30;
    System system = toy_system({{single_atom(20), atoms}}, {7, 9, 10}, reference_temperature, 2);
    auto particles = particles_in_input_order<Double>(system);
    CpuQueue queue(1);
    RunParameters parameters = coupled(Thermostat::None, 1, Barostat::ParrinelloRahman);
    parameters.dt = 0.002;
    parameters.tau_p = 2;
    parameters.reference_pressure = everywhere(pressure);
    parameters.compressibility = everywhere(0.02);
    const PressureCoupling coupling = make_pressure_coupling(parameters, 0);
    BarostatState state;
    KineticEnergies half_step = compute_kinetic(queue, particles, 1);
    double lowest = 1e30, highest = -1e30, smallest = 1e30, largest = 0;
    const Vec3<double> start = particles.box.edges().diagonal();
    for (int step = 0; step < 3000; ++step)
    {
        VelocityCoupling velocities;
        advance_box_velocity(coupling, particles.box.edges().diagonal(), state, velocities);
        kick(queue, kick_coefficients(parameters.dt, 1, velocities), particles);
        KineticEnergies next = compute_kinetic(queue, particles, 1);
        const KineticEnergies kinetic = mean(half_step, next);
        const double p = ideal_pressure(kinetic, particles.box.edges().volume());
        scale_box(queue, coupling, step, {{}, everywhere(p)}, state, next, particles);
        state.pressure = everywhere(p);
        state.pressure_known = true;
        half_step = next;
        const double conserved = kinetic.energy() + conserved_contribution(coupling, particles.box.edges().diagonal(), state);
        lowest = std::min(lowest, conserved);
        highest = std::max(highest, conserved);
        smallest = std::min(smallest, particles.box.edges().volume());
        largest = std::max(largest, particles.box.edges().volume());
    }
    EXPECT_GT(largest / smallest, 1.05);
    EXPECT_LT((highest - lowest) / highest, 1e-3); // while the volume changes by a fifth
    EXPECT_NEAR(particles.box.edges().diagonal().x / start.x, particles.box.edges().diagonal().z / start.z, 1e-9);
}

namespace {

// What forgets: after a time `memory` (ps), on the mean, the kinetic energy becomes independent of what it was, as far as its
// energy allows.
struct HeatBath
{
    static constexpr double dof = 60, memory = 0.055;
    double kinetic = dof / 2 * kt, energy = dof * kt; // of dof velocities, and of them and as many springs
    RandomSequence random{17, RandomPurpose::Velocities, 0, 0};

    void scale(double velocity)
    {
        const double change = (velocity * velocity - 1) * kinetic;
        kinetic += change, energy += change;
    }
    void go_on(double time, std::int64_t step)
    {
        if (uniform(random_bits(5, RandomPurpose::Velocities, step, 0).word[0]) > 1 - std::exp(-time / memory)) { return; }
        const double moving = random.next_sum_of_squares(dof), resting = random.next_sum_of_squares(dof);
        kinetic = energy * moving / (moving + resting);
    }
};

// An ideal gas at a constant temperature: its volume, and velocities that are drawn anew after a time `memory`, on the mean.
struct IsothermalGas
{
    static constexpr int atoms = 40;
    static constexpr double pressure = 50, memory = 0.135;         // bar, ps
    const double unit = kt * units::bar_per_kj_mol_nm3 / pressure; // nm^3
    Vec3<double> box = std::cbrt((atoms + 1) * unit) * Vec3<double>{1, 1, 1};
    double kinetic = 1.5 * atoms * kt;
    RandomSequence random{23, RandomPurpose::Velocities, 0, 0};

    double volume() const { return box.x * box.y * box.z; }
    double pressure_now() const { return 2 * kinetic / (3 * volume()) * units::bar_per_kj_mol_nm3; }
    void scale(const Vec3<double>& next)
    {
        kinetic *= (box.x / next.x) * (box.x / next.x);
        box = next;
    }
    void go_on(double time, std::int64_t step)
    {
        if (uniform(random_bits(5, RandomPurpose::Velocities, step, 0).word[0]) > 1 - std::exp(-time / memory)) { return; }
        kinetic = 0.5 * kt * random.next_sum_of_squares(3 * atoms);
    }
};

// Of the kinetic energy, in units of the canonical one.
double kinetic_variance(double interval, int couplings)
{
    RunParameters parameters = coupled(Thermostat::NoseHoover, 0.5);
    parameters.dt = interval;
    const TemperatureCoupling coupling = make_temperature_coupling(parameters, {HeatBath::dof}, 0);
    std::vector<ThermostatState> state = initial_state(coupling);
    HeatBath bath;
    Moments kinetic;
    for (int step = 0; step < couplings; ++step)
    {
        VelocityCoupling velocities;
        const KineticEnergies now{{Mat3<double>{{{bath.kinetic, 0, 0}, {0, 0, 0}, {0, 0, 0}}}}};
        couple_temperature(coupling, step, now, state, velocities);
        bath.scale(kick_coefficients(parameters.dt, 1, velocities).group[0].keep.x);
        kinetic.add(bath.kinetic / kt);
        bath.go_on(interval, step);
    }
    EXPECT_NEAR(kinetic.mean(), HeatBath::dof / 2, 0.5);
    return kinetic.variance() / (HeatBath::dof / 2);
}

// Of the volume, in units of (N + 1) (kT / P)^2: p(V) ~ V^N exp(-P V / kT). tau-p is 1 ps.
double volume_variance(Barostat kind, double interval, int couplings)
{
    RunParameters parameters = coupled(Thermostat::VRescale, 1, kind);
    parameters.tau_p = 1;
    parameters.dt = interval;
    parameters.reference_pressure = everywhere(IsothermalGas::pressure);
    parameters.compressibility = everywhere(1 / IsothermalGas::pressure);
    const PressureCoupling coupling = make_pressure_coupling(parameters, 1);
    IsothermalGas gas;
    BarostatState state;
    Moments volume;
    for (int step = 0; step < couplings; ++step)
    {
        VelocityCoupling velocities;
        advance_box_velocity(coupling, gas.box, state, velocities);
        gas.scale(
            next_box(coupling, step, {{}, everywhere(gas.pressure_now())}, gas.box, everywhere(gas.kinetic / 3), state).box);
        volume.add(gas.volume() / gas.unit);
        gas.go_on(interval, step);
        state.pressure = everywhere(gas.pressure_now());
        state.pressure_known = true;
    }
    EXPECT_NEAR(volume.mean(), gas.atoms + 1, 1); // Parrinello-Rahman moves the edge: of a measure between dL and dV
    return volume.variance() / (gas.atoms + 1);
}

} // namespace

// The memory of the swing is 100 to 200 couplings, which makes a variance of a million of them uncertain by 2 %.
TEST(NoseHoover, has_the_canonical_variance_of_the_kinetic_energy_within_what_is_said_of_its_interval)
{
    const double chosen = 0.002 * longest_coupling_interval(Thermostat::NoseHoover, 0.5, 0.002);
    EXPECT_LE(coupling_error(Thermostat::NoseHoover, 0.5, chosen).total(), coupling_error_bound);
    EXPECT_NEAR(kinetic_variance(chosen, 1000000), 1, coupling_error_bound + 0.04);
    // What is said is for all of the kinetic energy; here half of its variance is at constant energy, and right.
    for (const double interval : {0.011, 0.022})
    {
        const double said = coupling_error(Thermostat::NoseHoover, 0.5, interval).total(),
                     found = kinetic_variance(interval, 1000000) - 1;
        EXPECT_LE(found, said + 0.04);
        EXPECT_GE(found, 0.5 * said - 0.04);
        EXPECT_GT(found, coupling_error_bound);
    }
}

TEST(ParrinelloRahman, has_the_variance_of_the_volume_of_the_ideal_gas_within_what_is_said_of_its_interval)
{
    const double chosen = 0.002 * longest_coupling_interval(Barostat::ParrinelloRahman, 1, 0.002);
    EXPECT_LE(coupling_error(Barostat::ParrinelloRahman, 1, chosen).total(), coupling_error_bound);
    EXPECT_NEAR(volume_variance(Barostat::ParrinelloRahman, chosen, 1000000), 1, coupling_error_bound + 0.08);
    const double said = coupling_error(Barostat::ParrinelloRahman, 1, 0.06).total(),
                 found = volume_variance(Barostat::ParrinelloRahman, 0.06, 1000000) - 1;
    EXPECT_NEAR(found, said, 0.25 * said) << "to leading order";
}

TEST(CRescale, has_the_variance_of_the_volume_of_the_ideal_gas_within_what_is_said_of_its_interval)
{
    const double chosen = 0.002 * longest_coupling_interval(Barostat::CRescale, 1, 0.002);
    EXPECT_LE(coupling_error(Barostat::CRescale, 1, chosen).total(), coupling_error_bound);
    EXPECT_NEAR(volume_variance(Barostat::CRescale, chosen, 1000000), 1, coupling_error_bound + 0.04);
    const double said = coupling_error(Barostat::CRescale, 1, 0.2).total(),
                 found = volume_variance(Barostat::CRescale, 0.2, 1000000) - 1;
    EXPECT_NEAR(found, said, 0.25 * said) << "to leading order";
}

TEST(CouplingError, of_the_period_is_that_of_the_linear_maps)
{
    // The variance of x' = x (1 - h/tau) + noise, over that for short steps: 1 / (1 - h / (2 tau)).
    const double h = 1.0 / 25;
    EXPECT_NEAR(coupling_error(Thermostat::Berendsen, 1, h).total(), 1 / (1 - 0.5 * h) - 1, h * h);
    EXPECT_EQ(coupling_error(Barostat::Berendsen, 1, h).total(), coupling_error(Thermostat::Berendsen, 1, h).total());
    // The symplectic Euler map keeps a form of x and its velocity; of all its states with the same value, x has a variance that
    // is larger by 1 / (1 - (W h)^2 / 4): its range is, by the determinant of the form.
    for (const auto& [error, frequency] : {std::pair(coupling_error(Thermostat::NoseHoover, 1, h).period, std::sqrt(2.0)),
                                           {coupling_error(Barostat::ParrinelloRahman, 1, h).period, std::sqrt(5.0 / 3)}})
    {
        const double wh = frequency * 2 * units::pi * h;
        double x = 0, v = 1, largest = 0;
        const double form = x * x + v * v - wh * x * v;
        for (int i = 0; i < 200000; ++i)
        {
            v -= wh * x;
            x += wh * v;
            largest = std::max(largest, x * x);
        }
        EXPECT_NEAR(largest / form - 1, error, 1.1 * error * error); // the next order: error^2
    }
    EXPECT_EQ(coupling_error(Thermostat::VRescale, 1, 1).total(), 0);
}
