// SPDX-License-Identifier: Apache-2.0
// One evaluation of the whole engine: energies, virial and pressure of the reference, and what must not change them.
#include "run_helpers.hpp"
#include "support/compare.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class SinglePointTest : public ::testing::TestWithParam<std::string>
{
};

Vec3<double> net(const std::vector<Vec3<double>>& forces)
{
    return std::accumulate(forces.begin(), forces.end(), Vec3<double>{});
}

double sum_of_norms(const std::vector<Vec3<double>>& forces)
{
    return std::accumulate(forces.begin(), forces.end(), 0.0, [](double sum, const Vec3<double>& f) { return sum + norm(f); });
}

} // namespace

TEST_P(SinglePointTest, in_double_has_the_virial_and_pressure_of_the_reference)
{
    const SinglePoint point = simulate(load_nve(GetParam()), Precision::Double).evaluate();
    const EnergyTable expected = refdata_energies(GetParam());
    // The reference's interpolated 1-4 forces are worth some 1e-9 of the virial (tests/interactions/total_test.cpp has it
    // without).
    EXPECT_LE(max_relative(point.observables.virial, expected.tensor("Vir")), GetParam() == "spce" ? 1e-9 : 5e-9);
    EXPECT_NEAR(point.observables.kinetic_energy, expected["Kinetic En."], 1e-9 * expected["Kinetic En."]);
    EXPECT_NEAR(point.observables.pressure, expected["Pressure"], 1e-5); // of differences of some 1e4 bar
    EXPECT_NEAR(point.observables.pressure_correction, expected["Pres. DC"], 1e-9 * std::abs(expected["Pres. DC"]));
}

TEST_P(SinglePointTest, in_mixed_precision_is_within_a_twentieth_of_a_bar)
{
    const SinglePoint point = simulate(load_nve(GetParam()), Precision::Mixed).evaluate();
    EXPECT_NEAR(point.observables.pressure, refdata_energies(GetParam())["Pressure"], 0.05);
}

TEST_P(SinglePointTest, leaves_the_simulation_where_it_was)
{
    Simulation simulation = simulate(load_nve(GetParam()), Precision::Double);
    const Frame before = simulation.frame();
    simulation.evaluate();
    const Frame after = simulation.frame();
    EXPECT_EQ(before.x, after.x);
    EXPECT_EQ(before.v, after.v);
    EXPECT_EQ(before.step, after.step);
}

TEST_P(SinglePointTest, has_no_net_force)
{
    const SinglePoint fast = simulate(load_nve(GetParam()), Precision::Double).evaluate();
    EXPECT_LE(norm(net(fast.forces)), 1e-13 * sum_of_norms(fast.forces));
    const SinglePoint exact = simulate(load_nve(GetParam()), Precision::Mixed, Summation::Reproducible).evaluate();
    EXPECT_EQ(net(exact.forces), Vec3<double>{});
}

TEST_P(SinglePointTest, does_not_know_the_origin)
{
    Refdata data = load_nve(GetParam());
    const SinglePoint here = simulate(data, Precision::Double).evaluate();
    for (Vec3<double>& x : data.system.x) { x += {0.7391, -11.2113, 5.0127}; }
    const SinglePoint there = simulate(data, Precision::Double).evaluate();
    EXPECT_LE(rms_relative(there.forces, here.forces), 1e-12);
    EXPECT_NEAR(there.observables.potential, here.observables.potential, 1e-12 * std::abs(here.observables.potential));
    EXPECT_LE(max_relative(there.observables.virial, here.observables.virial), 1e-10);
}

TEST_P(SinglePointTest, does_not_know_which_image_of_an_atom_it_was_given)
{
    // Images differ by whole boxes, which the file's decimals hold exactly only up to rounding in double: fixed-point fractions
    // agree.
    Refdata data = load_nve(GetParam());
    const SinglePoint here = simulate(data, Precision::Mixed, Summation::Reproducible).evaluate();
    std::mt19937 random(1);
    std::uniform_int_distribution<int> images(-2, 2);
    for (Vec3<double>& x : data.system.x)
    {
        for (int d = 0; d < 3; ++d) { x[d] += images(random) * data.system.box.diagonal()[d]; }
    }
    const SinglePoint there = simulate(data, Precision::Mixed, Summation::Reproducible).evaluate();
    EXPECT_EQ(there.forces, here.forces);
    EXPECT_EQ(there.observables.potential, here.observables.potential);
}

TEST_P(SinglePointTest, in_reproducible_mode_does_not_know_the_number_of_threads)
{
    const Refdata data = load_nve(GetParam());
    const SinglePoint one = simulate(data, Precision::Mixed, Summation::Reproducible, 1).evaluate();
    for (const int threads : {2, 3, 4})
    {
        const SinglePoint more = simulate(data, Precision::Mixed, Summation::Reproducible, threads).evaluate();
        EXPECT_EQ(more.forces, one.forces) << threads;
        EXPECT_EQ(more.observables.forces.energy, one.observables.forces.energy) << threads;
        EXPECT_EQ(more.observables.virial, one.observables.virial) << threads;
    }
}

INSTANTIATE_TEST_SUITE_P(Refdata, SinglePointTest, ::testing::ValuesIn(refdata_systems),
                         [](const auto& test) { return test.param; });

TEST(SinglePoint, does_not_know_the_order_of_molecules)
{
    // spce: one molecule type, so molecules may be dealt out anew.
    Refdata data = load_nve("spce");
    const SinglePoint here = simulate(data, Precision::Double).evaluate();
    const Refdata original = data;
    std::vector<std::size_t> order(data.system.x.size() / 3);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(2));
    for (std::size_t m = 0; m < order.size(); ++m)
    {
        for (std::size_t a = 0; a < 3; ++a)
        {
            data.system.x[3 * m + a] = original.system.x[3 * order[m] + a];
            data.system.v[3 * m + a] = original.system.v[3 * order[m] + a];
        }
    }
    SinglePoint there = simulate(data, Precision::Double).evaluate();
    std::vector<Vec3<double>> back(there.forces.size());
    for (std::size_t m = 0; m < order.size(); ++m)
    {
        for (std::size_t a = 0; a < 3; ++a) { back[3 * order[m] + a] = there.forces[3 * m + a]; }
    }
    EXPECT_LE(rms_relative(back, here.forces), 1e-12);
    EXPECT_NEAR(there.observables.potential, here.observables.potential, 1e-12 * std::abs(here.observables.potential));
}

// Two waters from far to near: wherever a number of --reproducible is not that of the sums without a limit, it says so, and it
// says nothing of a start that a minimisation may well have.
TEST(SinglePoint, says_where_reproducible_sums_meet_their_limits)
{
    bool were_equal = false, were_limited = false;
    for (const double distance : {0.25, 0.2, 0.15, 0.13, 0.12, 0.11, 0.1, 0.09, 0.08, 0.05, 0.02, 0.001, 0.0})
    {
        SCOPED_TRACE(distance);
        Refdata data = load_nve("spce");
        data.parameters.integrator = Integrator::SteepestDescent;
        for (std::size_t a = 0; a < 3; ++a) { data.system.x[3 + a] = data.system.x[a] + Vec3<double>{distance, 0, 0}; }
        const SinglePoint limited = simulate(data, Precision::Double, Summation::Reproducible).evaluate();
        const SinglePoint expected = simulate(data, Precision::Double).evaluate();
        EXPECT_EQ(expected.remark, "");
        const bool is_equal = rms_relative(limited.forces, expected.forces) < 1e-6 &&
                              max_relative(limited.observables.virial, expected.observables.virial) < 1e-6 &&
                              std::abs(limited.observables.potential / expected.observables.potential - 1) < 1e-6;
        if (!is_equal) { EXPECT_NE(limited.remark, ""); }
        if (distance >= 0.15) { EXPECT_EQ(limited.remark, ""); }
        were_equal |= is_equal && limited.remark.empty();
        were_limited |= !is_equal;
        Recorder recorder;
        simulate(data, Precision::Double, Summation::Reproducible).run(0, recorder, never);
        const auto is_remark = [&](const std::string& text) { return text.find("beyond the range") != std::string::npos; };
        EXPECT_EQ(std::any_of(recorder.messages.begin(), recorder.messages.end(), is_remark), !limited.remark.empty());
    }
    EXPECT_TRUE(were_equal && were_limited);
}

// Edges scaled one at a time: dE/d(strain_d) = 2 Xi_dd of the forces. Force-switch and an infinite reaction field have no steps
// at the cut-off, so that a finite difference converges; positions scale with the box, which needs flexible molecules to mean
// anything.
TEST(SinglePoint, has_the_virial_of_its_energys_strain_derivative)
{
    for (const std::string name : {"etoh", "villin"})
    {
        Refdata data = load_refdata(name, ConstraintMode::None);
        for (MoleculeType& type : data.system.topology.molecule_types) { type.settles.clear(); }
        data.parameters.lj_modifier = LjModifier::ForceSwitch;
        data.parameters.lj_switch = 0.7;
        const auto evaluate = [&](int axis, double strain) {
            Refdata strained = data;
            strained.system.box.diagonal()[axis] *= 1 + strain;
            for (Vec3<double>& x : strained.system.x) { x[axis] *= 1 + strain; }
            return simulate(strained, Precision::Double).evaluate().observables;
        };
        const Observables middle = evaluate(0, 0);
        const double volume = data.system.box.diagonal().x * data.system.box.diagonal().y * data.system.box.diagonal().z;
        const double correction =
            -0.5 * middle.pressure_correction * volume / 16.605390671738466; // its virial, each diagonal element
        for (int axis = 0; axis < 3; ++axis)
        {
            constexpr double h = 2e-5;
            const double derivative = (8 * (evaluate(axis, h).potential - evaluate(axis, -h).potential) -
                                       (evaluate(axis, 2 * h).potential - evaluate(axis, -2 * h).potential)) /
                                      (12 * h);
            const double virial = 2 * (middle.forces.virial[axis][axis] + correction);
            EXPECT_NEAR(derivative, virial, 1e-6 * std::abs(virial)) << name << " axis " << axis;
        }
    }
}
