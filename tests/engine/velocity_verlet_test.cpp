// SPDX-License-Identifier: Apache-2.0
// Velocity Verlet: against GROMACS in double precision (tests/data/refdata/etoh/rf/make_groups.sh), and what must hold by itself.
// continuation_test.cpp, ranks_test.cpp and engine_gpu_test.cpp have its runs with breaks, on ranks and on GPUs.
#include "run_helpers.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr std::size_t ethanol_atoms = 900;

Refdata verlet(Integrator integrator = Integrator::VelocityVerlet)
{
    Refdata data = load_nve("etoh");
    data.parameters.integrator = integrator;
    return data;
}

Refdata in_two_groups(Thermostat thermostat, double reference_a, double tau_a, double reference_b, double tau_b, int interval)
{
    Refdata data = verlet();
    for (std::size_t atom = 0; atom < data.system.x.size(); ++atom)
    {
        data.system.groups[atom < ethanol_atoms ? "ETH" : "SOL"].push_back(static_cast<std::int64_t>(atom));
    }
    data.parameters.thermostat = thermostat;
    data.parameters.temperature_groups = {{"ETH", tau_a, reference_a}, {"SOL", tau_b, reference_b}};
    data.parameters.temperature_interval = interval;
    data.parameters.random_seed = 5;
    return data;
}
Refdata in_two_groups(Thermostat thermostat) { return in_two_groups(thermostat, 320, 0.05, 320, 0.05, 1); }

Refdata with_chains()
{
    Refdata data = in_two_groups(Thermostat::NoseHoover, 280, 0.8, 320, 0.5, 5);
    data.parameters.nose_hoover_chain = 4;
    return data;
}

Refdata in_a_box_that_is_scaled(Barostat barostat)
{
    Refdata data = in_two_groups(barostat == Barostat::Berendsen ? Thermostat::Berendsen : Thermostat::VRescale);
    data.parameters.barostat = barostat;
    data.parameters.tau_p = 0.1;
    data.parameters.pressure_interval = 1;
    data.parameters.reference_pressure = {1, 1, 1};
    data.parameters.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
    return data;
}

// Compares energies with the reference's in every step. docs/decisions/0079-velocity-verlet.md says why virials of
// constraint forces differ, and so boxes that are scaled.
void follow(const Refdata& data, const std::string& run, double tolerance = 1e-9)
{
    SCOPED_TRACE(run);
    Simulation simulation = simulate(data, Precision::Double);
    Recorder recorder;
    const std::vector<EnergyTable> reference = refdata_energy_series("etoh", "groups_" + run);
    simulation.run(static_cast<std::int64_t>(reference.size()) - 1, recorder, never);
    ASSERT_EQ(recorder.observables.size(), reference.size());
    for (std::size_t step = 0; step < reference.size(); ++step)
    {
        const Observables& o = recorder.observables[step];
        const EnergyTable& expected = reference[step];
        const auto near = [&](const char* name, double value) {
            EXPECT_NEAR(value, expected[name], tolerance * std::max(1.0, std::abs(expected[name])))
                << name << " of step " << step;
        };
        near("Potential", o.potential);
        near("Kinetic En.", o.kinetic_energy);
        near("Total Energy", o.total);
        if (data.parameters.thermostat != Thermostat::None) { near("Conserved En.", o.conserved); }
    }
}

// The positions and velocities of the last step.
Frame end_of_run(Refdata data, std::int64_t steps, Precision precision = Precision::Double)
{
    data.parameters.x_out = data.parameters.v_out = 1'000'000; // written in the first and the last step
    Simulation simulation = simulate(data, precision);
    Recorder recorder;
    simulation.run(steps, recorder, never);
    return recorder.frames.back();
}

} // namespace

TEST(VelocityVerlet, follows_the_reference) { follow(verlet(), "vv"); }

TEST(VelocityVerlet, starts_from_velocities_at_the_time_of_the_positions)
{
    Refdata data = verlet();
    data.parameters.continuation = false;
    follow(data, "vv_start");
}

TEST(VelocityVerlet, with_averaged_kinetic_energies_follows_the_reference)
{
    follow(verlet(Integrator::VelocityVerletAverage), "vv_average");
}

TEST(VelocityVerlet, with_a_thermostat_follows_the_reference)
{
    follow(in_two_groups(Thermostat::Berendsen), "vv_berendsen");
    // The reference integrates chains with other weights.
    follow(in_two_groups(Thermostat::NoseHoover, 320, 0.5, 320, 0.5, 1), "vv_nose_hoover", 5e-9);
    follow(with_chains(), "vv_chain", 1e-7);
}

// The velocities of the output, negated, lead back to the start.
TEST(VelocityVerlet, is_reversible)
{
    constexpr std::int64_t steps = 25;
    Refdata data = verlet();
    data.parameters.continuation = false;
    data.parameters.com_mode = ComMode::None;
    const Frame start = end_of_run(data, 0);
    Frame end = end_of_run(data, steps);
    ASSERT_GT(largest_distance(end.x, start.x, start.box), 0.01);
    data.system.x = end.x;
    data.system.v = end.v;
    for (Vec3<double>& v : data.system.v) { v = -1.0 * v; }
    const Frame back = end_of_run(data, steps);
    EXPECT_LE(largest_distance(back.x, start.x, start.box), 1e-10);
    for (Vec3<double>& v : end.v) { v = -1.0 * v; }
    double largest = 0;
    for (std::size_t atom = 0; atom < back.v.size(); ++atom) { largest = std::max(largest, norm(back.v[atom] + start.v[atom])); }
    EXPECT_LE(largest, 1e-7);
}

// Output and observation change no bit.
TEST(VelocityVerlet, is_the_same_whether_or_not_its_full_steps_are_looked_at)
{
    Refdata data = verlet();
    data.parameters.energy_calc = data.parameters.energy_out = data.parameters.log_out = 0;
    for (const Precision precision : {Precision::Double, Precision::Mixed})
    {
        const auto end = [&](int interval) {
            Refdata observed = data;
            observed.parameters.energy_calc = interval;
            observed.parameters.v_out = interval;
            Simulation simulation = simulate(observed, precision, Summation::Reproducible);
            Observer nobody;
            simulation.run(12, nobody, never);
            return simulation.frame().x;
        };
        EXPECT_EQ(end(1), end(0));
    }
}

TEST(VelocityVerlet, has_the_same_bits_on_all_ranks)
{
    for (Refdata data : {with_chains(), in_a_box_that_is_scaled(Barostat::CRescale)})
    {
        data.parameters.continuation = false;
        data.parameters.v_out = 5;
        std::vector<std::vector<Vec3<double>>> ends;
        for (const int ranks : {1, 2})
        {
            SimulationOptions options;
            options.summation = Summation::Reproducible;
            options.threads = 1;
            options.ranks = ranks;
            Simulation simulation(data.system, data.parameters, options);
            Recorder recorder;
            simulation.run(10, recorder, never);
            ends.push_back(simulation.frame().x), ends.push_back(recorder.frames.back().v);
        }
        EXPECT_EQ(ends[0], ends[2]);
        EXPECT_EQ(ends[1], ends[3]);
    }
}

// The velocities of the output have no component along constraints, and their kinetic energy is that of the energy file.
TEST(VelocityVerlet, writes_velocities_that_satisfy_the_constraints)
{
    for (const Thermostat thermostat : {Thermostat::None, Thermostat::NoseHoover})
    {
        Refdata data = in_two_groups(thermostat);
        data.parameters.v_out = data.parameters.x_out = 10;
        Simulation simulation = simulate(data, Precision::Double);
        Recorder recorder;
        simulation.run(20, recorder, never);
        const Frame& frame = recorder.frames.back();
        double largest = 0, kinetic = 0;
        std::size_t atom = ethanol_atoms;
        for (; atom + 2 < frame.x.size(); atom += 3) // waters
        {
            for (const auto& [a, b] : {std::pair(atom, atom + 1), {atom, atom + 2}, {atom + 1, atom + 2}})
            {
                largest = std::max(largest, std::abs(dot(frame.x[a] - frame.x[b], frame.v[a] - frame.v[b])));
            }
        }
        EXPECT_LE(largest, 1e-12);
        std::size_t global = 0;
        for (const MoleculeBlock& block : data.system.topology.blocks)
        {
            const MoleculeType& type = data.system.topology.molecule_types[static_cast<std::size_t>(block.type)];
            for (std::int64_t copy = 0; copy < block.count; ++copy)
            {
                for (const Atom& of_type : type.atoms) { kinetic += 0.5 * of_type.mass * norm2(frame.v[global++]); }
            }
        }
        EXPECT_NEAR(kinetic, recorder.observables.back().kinetic_energy, 1e-10 * kinetic);
    }
}

// The error of the total energy is of second order in the time step, with the kinetic energy of v(t).
TEST(VelocityVerlet, conserves_energy_to_second_order)
{
    const auto deviation = [](double dt) {
        Refdata data = verlet();
        data.parameters.continuation = false;
        data.parameters.dt = dt;
        Simulation simulation = simulate(data, Precision::Double);
        Recorder recorder;
        simulation.run(std::llround(0.06 / dt), recorder, never);
        double square = 0, mean = 0;
        for (const Observables& o : recorder.observables) { mean += o.total; }
        mean /= static_cast<double>(recorder.observables.size());
        for (const Observables& o : recorder.observables) { square += (o.total - mean) * (o.total - mean); }
        return std::sqrt(square / static_cast<double>(recorder.observables.size()));
    };
    const double coarse = deviation(0.002), fine = deviation(0.001);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.3);
}

// A chain conserves its energy to second order as well, and the work that a barostat does is accounted for.
TEST(VelocityVerlet, conserves_the_energy_of_system_and_bath)
{
    const auto drift = [](Refdata data) {
        data.parameters.dt = 0.001;
        Simulation simulation = simulate(data, Precision::Double);
        Recorder recorder;
        simulation.run(100, recorder, never);
        double largest = 0, given = 0;
        for (const Observables& o : recorder.observables)
        {
            largest = std::max(largest, std::abs(o.conserved - recorder.observables.front().conserved));
            given = std::max(given, std::abs(o.total - recorder.observables.front().total));
        }
        EXPECT_GT(given, 50 * largest);
        return largest;
    };
    EXPECT_LE(drift(in_two_groups(Thermostat::NoseHoover)), 5);
    EXPECT_LE(drift(in_two_groups(Thermostat::VRescale)), 5);
    EXPECT_LE(drift(in_a_box_that_is_scaled(Barostat::CRescale)), 8);
    EXPECT_LE(drift(in_a_box_that_is_scaled(Barostat::Berendsen)), 8);
}
