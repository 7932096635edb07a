// SPDX-License-Identifier: Apache-2.0
// Runs with frozen atoms, simulated annealing, fields, accelerations and removed rotation: against those of GROMACS in double
// precision (tests/data/refdata/etoh/rf/make_groups.sh), on ranks, and what must not move.
#include "group_runs.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// Compares energies and boxes of a run with the reference's in every step, within `tolerance` (relative); trajectory_test.cpp
// says where 1-4 tables of the reference are less exact. reference_degrees: the reference's number of degrees of freedom over
// ours; it differs where the reference shares a group's removed motion by atoms. not_around: skip kinetic energies next to a
// removal of motion, where the reference's still contain it.
void follow(const Refdata& data, const std::string& run, double tolerance, double reference_degrees = 1, bool not_around = false)
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
        if (!not_around || step % static_cast<std::size_t>(data.parameters.com_interval) > 1)
        {
            near("Kinetic En.", o.kinetic_energy), near("Temperature", o.temperature / reference_degrees);
        }
        if (data.parameters.thermostat != Thermostat::None && data.parameters.barostat == Barostat::None)
        {
            near("Conserved En.", o.conserved);
        }
        if (!expected.contains("Box-X")) { continue; }
        near("Box-X", o.box.diagonal().x), near("Box-Y", o.box.diagonal().y), near("Box-Z", o.box.diagonal().z);
    }
}

} // namespace

TEST(FrozenAtoms, of_whole_molecules_follow_the_reference) { follow(with_frozen(of_ethanol, along_all), "molecules", 1e-9); }

TEST(FrozenAtoms, that_hold_others_by_constraints_follow_the_reference)
{
    follow(with_frozen(is_carbon, along_all), "carbons", 1e-9);
}

TEST(FrozenAtoms, along_some_axes_follow_the_reference)
{
    Refdata data = with_frozen(of_ethanol, along_x_and_z, ConstraintMode::None);
    data.parameters.dt = 0.0005;
    follow(data, "plane", 1e-9);
}

TEST(FrozenAtoms, in_a_box_that_changes_follow_the_reference)
{
    follow(in_a_changing_box(Thermostat::Berendsen, Barostat::Berendsen, of_water), "box", 1e-9);
    follow(in_a_changing_box(Thermostat::NoseHoover, Barostat::ParrinelloRahman, of_ethanol), "nhpr", 1e-9);
}

// Whatever moves the others: noise, thermostats, barostats that scale, generated velocities, removed motion, minimisation.
TEST(FrozenAtoms, stay_where_they_are)
{
    const auto expect_still = [](Refdata data, const char* what) {
        SCOPED_TRACE(what);
        data.parameters.generate_velocities = data.parameters.integrator != Integrator::SteepestDescent;
        data.parameters.generation_temperature = 300;
        data.parameters.com_mode = ComMode::Linear;
        data.parameters.com_interval = 1;
        data.parameters.continuation = false;
        if (data.parameters.generate_velocities) { data.system.v.clear(); }
        Simulation simulation = simulate(data, Precision::Double);
        Observer nobody;
        simulation.run(20, nobody, never);
        const Frame frame = simulation.frame();
        double farthest = 0, moved = 0;
        for (std::size_t atom = 0; atom < frame.x.size(); ++atom)
        {
            for (const int d : {0, 2})
            {
                // From the origin. Images differ by edges that have changed.
                const auto in_box = [d](double x, const Box<double>& box) {
                    return x - box.diagonal()[d] * std::floor(x / box.diagonal()[d]);
                };
                const double away =
                    std::abs(in_box(frame.x[atom][d], frame.box) - in_box(data.system.x[atom][d], data.system.box));
                if (away > 1) { continue; } // at a face of the box
                double& largest = of_ethanol(atom) ? farthest : moved;
                largest = std::max(largest, away);
            }
        }
        EXPECT_LT(farthest, 1e-14); // rounding, of one in nm
        EXPECT_GT(moved, 1e-3);
    };
    Refdata plane = with_frozen(of_ethanol, along_x_and_z, ConstraintMode::None);
    plane.parameters.dt = 0.0005;
    plane.parameters.temperature_groups = {{"ETH", 0.5, 300}, {"SOL", 0.5, 300}};
    for (const Integrator integrator : {Integrator::LeapFrog, Integrator::StochasticDynamics, Integrator::SteepestDescent})
    {
        plane.parameters.integrator = integrator;
        expect_still(plane, "along two axes");
    }
    plane.parameters.integrator = Integrator::LeapFrog;
    plane.parameters.thermostat = Thermostat::VRescale;
    plane.parameters.barostat = Barostat::CRescale;
    plane.parameters.temperature_interval = plane.parameters.pressure_interval = 1;
    plane.parameters.reference_pressure = {1, 1, 1};
    plane.parameters.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
    expect_still(plane, "in a box that fluctuates");
    expect_still(in_a_changing_box(Thermostat::Berendsen, Barostat::Berendsen, of_ethanol), "along all axes");
}

TEST(FrozenAtoms, are_the_same_bits_on_all_ranks)
{
    Refdata data = in_a_changing_box(Thermostat::VRescale, Barostat::Berendsen, of_ethanol);
    data.parameters.com_mode = ComMode::Linear;
    data.parameters.com_interval = 2;
    data.parameters.random_seed = 5;
    std::vector<std::vector<Vec3<double>>> ends;
    for (const int ranks : {1, 2})
    {
        SimulationOptions options;
        options.summation = Summation::Reproducible;
        options.threads = 1;
        options.ranks = ranks;
        Simulation simulation(data.system, data.parameters, options);
        Observer nobody;
        simulation.run(10, nobody, never);
        ends.push_back(simulation.frame().x);
    }
    EXPECT_EQ(ends[0], ends[1]);
}

TEST(SimulatedAnnealing, follows_the_reference)
{
    follow(annealed(Thermostat::Berendsen), "anneal_berendsen", 1e-9);
    follow(annealed(Thermostat::NoseHoover), "anneal_nose_hoover", 1e-9);
}

// Friction is so strong here that stochastic dynamics draws velocities anew in every step; C-rescale has noise, too.
TEST(SimulatedAnnealing, sets_the_temperature_of_noise)
{
    Refdata data = annealed(Thermostat::None, Integrator::StochasticDynamics);
    for (TemperatureGroup& group : data.parameters.temperature_groups)
    {
        group.tau = 1e-5;
        group.annealing = Annealing::Single;
        group.annealing_points = {{0, 300}, {0.04, 600}};
    }
    Simulation simulation = simulate(data, Precision::Double);
    Recorder recorder;
    simulation.run(20, recorder, never);
    for (const Observables& o : recorder.observables)
    {
        // Half of the noise acts on the displacement, and the mean of two half steps is observed. 6300 degrees of freedom: the
        // standard error is 2 %.
        if (o.step < 2) { continue; }
        EXPECT_NEAR(o.temperature, 300 + 300 * (o.time - 0.001) / 0.04, 0.1 * o.temperature) << o.step;
    }
}

// A run of 20 steps, and one that a saved state interrupts.
void expect_continued(const Refdata& data)
{
    SimulationOptions options;
    options.summation = Summation::Reproducible;
    options.threads = 1;
    Observer nobody;
    Simulation whole(data.system, data.parameters, options);
    whole.run(20, nobody, never);
    Simulation first(data.system, data.parameters, options);
    first.run(12, nobody, never);
    const SavedState saved = first.saved_state();
    Simulation second(data.system, data.parameters, options, &saved);
    second.run(20 - saved.step, nobody, never);
    EXPECT_EQ(second.frame().x, whole.frame().x);
}

TEST(SimulatedAnnealing, goes_on_where_a_saved_state_left_it) { expect_continued(annealed(Thermostat::VRescale)); }

TEST(FrozenAtoms, go_on_where_a_saved_state_left_them)
{
    Refdata data = in_a_changing_box(Thermostat::VRescale, Barostat::CRescale, of_ethanol);
    data.parameters.random_seed = 5;
    expect_continued(data);
}

TEST(ElectricField, moves_charges_as_in_the_reference) { follow(in_a_field(), "field", 1e-9); }

// After ten steps.
void expect_the_same_bits_on_two_ranks(const Refdata& data)
{
    std::vector<std::vector<Vec3<double>>> ends;
    for (const int ranks : {1, 2})
    {
        SimulationOptions options;
        options.summation = Summation::Reproducible;
        options.threads = 1;
        options.ranks = ranks;
        Simulation simulation(data.system, data.parameters, options);
        Observer nobody;
        simulation.run(10, nobody, never);
        ends.push_back(simulation.frame().x);
    }
    EXPECT_EQ(ends[0], ends[1]);
}

TEST(ElectricField, is_felt_alike_on_all_ranks) { expect_the_same_bits_on_two_ranks(in_a_field()); }

TEST(Acceleration, moves_groups_as_in_the_reference)
{
    follow(accelerated(ComMode::None), "acceleration", 1e-9);
    follow(accelerated(ComMode::Linear), "acceleration_corrected", 1e-9);
}

TEST(Acceleration, is_felt_alike_on_all_ranks)
{
    expect_the_same_bits_on_two_ranks(accelerated(ComMode::Linear));
    expect_the_same_bits_on_two_ranks(accelerated_from_rest());
}

TEST(CentreOfMass, is_taken_back_with_the_way_it_has_made_as_in_the_reference)
{
    // 900 atoms with 2100 of 6300 degrees of freedom, 2100 with 4200.
    const double degrees = 6300 * (0.3 * 2097 / 2100 + 0.7 * 4197 / 4200);
    follow(accelerated_from_rest(), "acceleration_way", 1e-9, degrees / 6294, true);
}

// Of one molecule: of all that is around the reference's places are not yet back in the box.
TEST(CentreOfMass, rotation_is_removed_as_in_the_reference)
{
    const double degrees = 6300 * (0.003 * 15 / 21 + 0.997); // nine atoms of 3000, with 21
    follow(without_rotation(), "rotation", 1e-9, degrees / 6294, true);
}

TEST(CentreOfMass, rotation_is_the_same_on_all_ranks) { expect_the_same_bits_on_two_ranks(without_rotation()); }
