// SPDX-License-Identifier: Apache-2.0
// Whole runs against the reference trajectories: everything between a configuration read and a configuration written.
#include "run_helpers.hpp"
#include "support/compare.hpp"

#include <cstdio>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

class Trajectory : public ::testing::TestWithParam<std::string>
{
};

// nm, by step. The reference's 1-4 forces come from tables and are off by up to 1e-4 kJ/mol/nm (see tabulated_pairs_test.cpp,
// where the same tables leave rounding only): 4e-10 nm in the first step for a hydrogen, growing with the time it acts.
double bound_in_double(const std::string& system, std::int64_t step)
{
    if (system == "spce") { return step <= 1 ? 1e-13 : step <= 10 ? 1e-11 : 1e-9; }
    return step <= 1 ? 4e-10 : step <= 10 ? 2e-9 : 1e-8;
}

TEST_P(Trajectory, in_double_follows_the_reference)
{
    const Refdata data = load_nve(GetParam());
    Simulation simulation = simulate(data, Precision::Double);
    std::int64_t step = 0;
    Observer nobody;
    for (const ReferenceState& reference : refdata_states(GetParam(), "nve"))
    {
        simulation.run(reference.step - step, nobody, never);
        step = reference.step;
        const Frame frame = simulation.frame();
        EXPECT_EQ(frame.step, step);
        const double dx = largest_distance(frame.x, reference.x, frame.box);
        EXPECT_LE(dx, bound_in_double(GetParam(), step)) << "step " << step;
        EXPECT_LE(rms_relative(frame.v, reference.v), 1e3 * bound_in_double(GetParam(), step)) << "step " << step;
        RecordProperty("dx_step_" + std::to_string(step), std::to_string(dx));
        std::printf("%s step %lld: largest distance %.2g nm\n", GetParam().c_str(), static_cast<long long>(step), dx);
    }
}

TEST_P(Trajectory, has_the_energies_of_the_reference_at_every_step)
{
    const Refdata data = load_nve(GetParam());
    Simulation simulation = simulate(data, Precision::Double);
    Recorder recorder;
    const std::vector<EnergyTable> reference = refdata_energy_series(GetParam(), "nve");
    simulation.run(static_cast<std::int64_t>(reference.size()) - 1, recorder, never);
    ASSERT_EQ(recorder.observables.size(), reference.size());
    for (std::size_t step = 0; step < reference.size(); ++step)
    {
        const Observables& o = recorder.observables[step];
        const EnergyTable& expected = reference[step];
        // The reference's 1-4 terms are interpolated: no matter for energies, a few 1e-9 of the virial.
        EXPECT_NEAR(o.potential, expected["Potential"], 1e-9 * std::abs(expected["Potential"])) << step;
        EXPECT_NEAR(o.kinetic_energy, expected["Kinetic En."], 1e-9 * expected["Kinetic En."]) << step;
        EXPECT_NEAR(o.forces[EnergyTerm::LjSr], expected["LJ (SR)"], 1e-9 * std::abs(expected["LJ (SR)"])) << step;
        EXPECT_NEAR(o.forces[EnergyTerm::CoulombSr], expected["Coulomb (SR)"], 1e-9 * std::abs(expected["Coulomb (SR)"])) << step;
        EXPECT_NEAR(o.temperature, expected["Temperature"], 1e-9 * expected["Temperature"]) << step;
        EXPECT_LE(max_relative(o.virial, expected.tensor("Vir")), GetParam() == "spce" ? 1e-9 : 3e-8) << step;
    }
}

TEST_P(Trajectory, in_mixed_precision_stays_near_the_reference)
{
    const Refdata data = load_nve(GetParam());
    Simulation simulation = simulate(data, Precision::Mixed);
    Recorder recorder;
    std::int64_t step = 0;
    for (const ReferenceState& reference : refdata_states(GetParam(), "nve"))
    {
        simulation.run(reference.step - step, recorder, never);
        step = reference.step;
        const Frame frame = simulation.frame();
        if (step <= 10)
        {
            EXPECT_LE(largest_distance(frame.x, reference.x, frame.box), step == 1 ? 2e-7 : 2e-6) << "step " << step;
        }
    }
    const std::vector<EnergyTable> series = refdata_energy_series(GetParam(), "nve");
    for (const Observables& o : recorder.observables)
    {
        const double expected = series[static_cast<std::size_t>(o.step)]["Total Energy"];
        EXPECT_NEAR(o.total, expected, std::max(0.02, 1e-6 * std::abs(expected))) << o.step;
    }
}

INSTANTIATE_TEST_SUITE_P(Refdata, Trajectory, ::testing::ValuesIn(refdata_systems), [](const auto& test) { return test.param; });
INSTANTIATE_TEST_SUITE_P(MeshRefdata, Trajectory, ::testing::ValuesIn(mesh_refdata),
                         [](const auto& test) { return test.param.substr(0, test.param.find('/')); });

TEST(Trajectory, begins_with_its_centre_of_mass_at_rest_unless_it_continues_another)
{
    const auto kinetic_energy_at_the_start = [](const Vec3<double>& drift, ComMode mode, bool continuation) {
        Refdata data = load_nve("etoh");
        data.parameters.com_mode = mode;
        data.parameters.continuation = continuation;
        for (Vec3<double>& v : data.system.v) { v += drift; }
        Simulation simulation = simulate(data, Precision::Double);
        Recorder recorder;
        simulation.run(1, recorder, never);
        return recorder.observables.front().kinetic_energy;
    };
    const Vec3<double> none{}, drift{0.5, -0.3, 0.1};
    const double at_rest = kinetic_energy_at_the_start(none, ComMode::Linear, false);
    EXPECT_NEAR(kinetic_energy_at_the_start(drift, ComMode::Linear, false), at_rest, 1e-9 * at_rest);
    const double mass = 100 * 46.069 + 700 * 18.0154, of_drift = 0.5 * mass * norm2(drift);
    EXPECT_NEAR(kinetic_energy_at_the_start(drift, ComMode::None, false), at_rest + of_drift, 1e-3 * of_drift);
    // The mean of two half steps, after the first of which it has been removed.
    EXPECT_NEAR(kinetic_energy_at_the_start(drift, ComMode::Linear, true), at_rest + of_drift / 2, 1e-3 * of_drift);
}

void follow_nose_hoover_and_parrinello_rahman(const std::string& name, double tolerance, double velocity_tolerance)
{
    Refdata data = load_nve(name);
    couple_as_nhpr(data.parameters);
    Simulation simulation = simulate(data, Precision::Double);
    Recorder recorder;
    const std::vector<EnergyTable> reference = refdata_energy_series(name, "nhpr");
    simulation.run(static_cast<std::int64_t>(reference.size()) - 1, recorder, never);
    ASSERT_EQ(recorder.observables.size(), reference.size());
    for (std::size_t step = 0; step < reference.size(); ++step)
    {
        const Observables& o = recorder.observables[step];
        const EnergyTable& expected = reference[step];
        EXPECT_NEAR(o.box.diagonal().x, expected["Box-X"], tolerance * expected["Box-X"]) << step;
        EXPECT_NEAR(o.temperature, expected["Temperature"], tolerance * expected["Temperature"]) << step;
        EXPECT_NEAR(o.conserved, expected["Conserved En."], tolerance * std::abs(expected["Conserved En."])) << step;
        EXPECT_NEAR(o.box_velocity.x, expected["Box-Vel-XX"], velocity_tolerance) << step; // nm/ps
    }
}

TEST(Trajectory, with_nose_hoover_and_parrinello_rahman_follows_the_reference)
{
    follow_nose_hoover_and_parrinello_rahman("spce", 1e-10, 1e-10);
}

// The reference's unit of pressure is smaller by 3.5e-10.
TEST(Trajectory, with_parrinello_rahman_by_axis_follows_the_reference)
{
    for (const std::string edges : {"semi", "each"})
    {
        SCOPED_TRACE(edges);
        Refdata data = load_nve("spce");
        couple_as_nhpr(data.parameters);
        couple_edges(data.parameters, edges);
        Simulation simulation = simulate(data, Precision::Double);
        Recorder recorder;
        const std::vector<EnergyTable> reference = refdata_energy_series("spce", "axes_nhpr_" + edges);
        simulation.run(static_cast<std::int64_t>(reference.size()) - 1, recorder, never);
        expect_boxes(recorder.observables, reference, 1e-10);
    }
}

// The reference's tables of 1-4 pairs are all that differs: to the pressure, and so to the box, they matter most.
TEST(Trajectory, with_pme_nose_hoover_and_parrinello_rahman_follows_the_reference)
{
    follow_nose_hoover_and_parrinello_rahman("etoh/pme", 5e-8, 2e-6);
}

TEST(Trajectory, progress_tells_the_temperature_observed_last_and_none_before)
{
    Refdata data = load_nve("spce");
    data.parameters.list_interval = 5;
    data.parameters.energy_calc = data.parameters.energy_out = data.parameters.log_out = 10;
    Recorder recorder;
    simulate(data, Precision::Mixed).run(20, recorder, never);
    ASSERT_EQ(recorder.observables.size(), 3u); // steps 0, 10, 20
    ASSERT_EQ(recorder.temperatures.size(), 5u);
    EXPECT_TRUE(std::isnan(recorder.temperatures[0]));
    for (std::size_t i = 1; i < 5; ++i)
    {
        EXPECT_EQ(recorder.temperatures[i], recorder.observables[(i - 1) / 2].temperature) << "step " << 5 * i;
    }
}
