// SPDX-License-Identifier: Apache-2.0
// Nose-Hoover chains on a harmonic oscillator in one dimension. With one variable its motion is known not to be
// canonical (Hoover, Phys. Rev. A 31, 1695 (1985)); with a chain it is (Martyna, Klein, Tuckerman, J. Chem. Phys. 97, 2635
// (1992)).
#include "base/units.hpp"
#include "dynamics/thermostat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>

using namespace parhelion;

namespace {

constexpr double bath_temperature = 300, kt_of_bath = units::boltzmann * bath_temperature;

// An oscillator of mass 1 u and frequency 2 pi / ps, with a thermostat of tau = 1 ps. Energies are in kJ/mol.
struct Oscillator
{
    Oscillator(int links, double time_step, int interval = 1) : dt(time_step)
    {
        RunParameters parameters;
        parameters.integrator = Integrator::VelocityVerlet;
        parameters.thermostat = Thermostat::NoseHoover;
        parameters.nose_hoover_chain = links;
        parameters.dt = dt;
        parameters.temperature_interval = interval;
        parameters.temperature_groups = {{"System", 1, bath_temperature}};
        coupling = make_temperature_coupling(parameters, {1}, 0);
        state = initial_state(coupling);
    }
    static constexpr double frequency = 2 * units::pi;

    double kinetic() const { return 0.5 * v * v; }
    double conserved() const { return kinetic() + 0.5 * frequency * frequency * x * x + conserved_contribution(coupling, state); }
    double scaled(const VelocityCoupling& velocities) const { return velocities.scale[0] * v; }

    // Takes a step from v(t), which the chain has scaled for time t already.
    void step(bool couples, bool finishes)
    {
        VelocityCoupling velocities;
        const auto energies = [&] {
            Mat3<double> tensor;
            tensor[0][0] = kinetic();
            return KineticEnergies{{tensor}};
        };
        if (couples)
        {
            couple_temperature(coupling, 0, energies(), state, velocities);
            v = scaled(velocities);
        }
        v -= 0.5 * dt * frequency * frequency * x;
        x += dt * v;
        v -= 0.5 * dt * frequency * frequency * x;
        if (!finishes) { return; }
        VelocityCoupling at_end;
        KineticEnergies now = energies();
        finish_coupling(coupling, now, state, at_end);
        v = scaled(at_end);
        EXPECT_NEAR(now.energy(), kinetic(), 1e-12 * kinetic());
    }

    double dt, x = 0, v = std::sqrt(kt_of_bath);
    TemperatureCoupling coupling;
    std::vector<ThermostatState> state;
};

} // namespace

TEST(NoseHooverChain, samples_the_canonical_distribution_of_an_oscillator)
{
    const auto moments = [](int links) {
        Oscillator o(links, 0.02);
        double v2 = 0, v4 = 0, x2 = 0, x4 = 0;
        constexpr int steps = 1'000'000;
        for (int step = 0; step < steps; ++step)
        {
            o.step(true, true);
            const double v = o.v * o.v / kt_of_bath, x = o.x * o.x * Oscillator::frequency * Oscillator::frequency / kt_of_bath;
            v2 += v, v4 += v * v, x2 += x, x4 += x * x;
        }
        return std::array{v2 / steps, v4 / steps, x2 / steps, x4 / steps};
    };
    const auto chain = moments(4);
    EXPECT_NEAR(chain[0], 1, 0.02);
    EXPECT_NEAR(chain[1], 3, 0.15);
    EXPECT_NEAR(chain[2], 1, 0.02);
    EXPECT_NEAR(chain[3], 3, 0.15);
    const auto single = moments(1);
    EXPECT_GT(std::max(std::abs(single[1] - 3), std::abs(single[3] - 3)), 0.5) << "one variable must not pass this test";
}

TEST(NoseHooverChain, conserves_its_energy_to_second_order)
{
    const auto deviation = [](double dt) {
        Oscillator o(3, dt);
        const double start = o.conserved();
        double largest = 0;
        for (int step = 0; step < std::lround(2 / dt); ++step)
        {
            o.step(true, true);
            largest = std::max(largest, std::abs(o.conserved() - start));
        }
        return largest;
    };
    const double coarse = deviation(0.01), fine = deviation(0.005);
    EXPECT_LT(coarse, 0.02 * kt_of_bath);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2);
}

TEST(NoseHooverChain, is_reversible)
{
    Oscillator o(3, 0.01);
    const double x = o.x, v = o.v;
    for (int step = 0; step < 500; ++step) { o.step(true, true); }
    EXPECT_GT(std::abs(o.x - x), 1e-3);
    o.v = -o.v;
    o.state[0].xi = -o.state[0].xi;
    for (double& xi : o.state[0].chain) { xi = -xi; }
    for (int step = 0; step < 500; ++step) { o.step(true, true); }
    EXPECT_NEAR(o.x, x, 1e-9);
    EXPECT_NEAR(o.v, -v, 1e-9);
    EXPECT_NEAR(o.state[0].xi_integral, 0, 1e-9);
}
