// SPDX-License-Identifier: Apache-2.0
// Temperatures of simulated annealing by time, and what follows them.
#include "dynamics/annealing.hpp"
#include "dynamics/barostat.hpp"
#include "dynamics/stochastic.hpp"
#include "dynamics/thermostat.hpp"

#include "base/units.hpp"
#include <gtest/gtest.h>

using namespace parhelion;

namespace {

double at(Annealing kind, const std::vector<AnnealingPoint>& points, double time)
{
    return annealed_temperature(kind, points.data(), static_cast<int>(points.size()), time);
}

RunParameters annealed_groups()
{
    RunParameters parameters;
    parameters.dt = 0.002;
    parameters.temperature_interval = 10;
    parameters.thermostat = Thermostat::NoseHoover;
    parameters.start_time = 5;
    parameters.temperature_groups = {{"A", 0.5, 300},
                                     {"B", 0.5, 300, Annealing::Single, {{0, 100}, {10, 300}}},
                                     {"C", 0.5, 300, Annealing::Periodic, {{0, 400}, {4, 200}}}};
    return parameters;
}

} // namespace

TEST(Annealing, goes_from_point_to_point)
{
    const std::vector<AnnealingPoint> points{{0, 0}, {10, 300}, {10, 200}, {30, 100}};
    for (const auto& [time, expected] :
         {std::pair(0.0, 0.0), {5, 150}, {10, 300}, {10 + 1e-9, 200}, {20, 150}, {30, 100}, {1e6, 100}, {-1, -30}})
    {
        EXPECT_NEAR(at(Annealing::Single, points, time), expected, 1e-7) << time;
    }
}

TEST(Annealing, begins_again_if_it_is_periodic)
{
    const std::vector<AnnealingPoint> points{{0, 300}, {1, 400}, {4, 100}};
    for (const double time : {0.0, 0.5, 1.0, 2.5, 3.999})
    {
        for (const int periods : {1, 2, 1000})
        {
            EXPECT_NEAR(at(Annealing::Periodic, points, time + 4 * periods), at(Annealing::Single, points, time), 1e-9);
        }
    }
    EXPECT_EQ(at(Annealing::Periodic, points, 4), 300);
}

TEST(Annealing, is_that_of_thermostats_and_of_noise_at_a_time)
{
    const RunParameters parameters = annealed_groups();
    TemperatureCoupling coupling = make_temperature_coupling(parameters, {30, 30, 30}, 1);
    const auto references = [&] {
        return std::vector<double>{coupling.groups[0].reference, coupling.groups[1].reference, coupling.groups[2].reference};
    };
    EXPECT_EQ(references(), (std::vector<double>{300, 200, 350})); // at tinit
    anneal(12, coupling);
    EXPECT_EQ(references(), (std::vector<double>{300, 300, 400}));
    EXPECT_EQ(coupling.groups[1].mass_reference, 200); // as at the start
    StochasticDynamics dynamics = make_stochastic_dynamics(parameters, 1);
    anneal(coupling, dynamics);
    for (std::size_t g = 0; g < 3; ++g) { EXPECT_EQ(dynamics.groups[g].kt, units::boltzmann * references()[g]); }
    EXPECT_EQ(highest_reference(parameters.temperature_groups[2]), 400);
}

TEST(Annealing, gives_the_noise_of_the_barostat_its_temperature_unless_there_is_another)
{
    RunParameters parameters = annealed_groups();
    parameters.temperature_groups.resize(2);
    parameters.temperature_groups[0] = parameters.temperature_groups[1];
    parameters.barostat = Barostat::CRescale;
    parameters.pressure_interval = 10;
    EXPECT_FALSE(ensemble_temperature(parameters).has_value());
    EXPECT_TRUE(make_pressure_coupling(parameters, 1).follows_annealing);
    parameters.given_ensemble_temperature = 310;
    const PressureCoupling given = make_pressure_coupling(parameters, 1);
    EXPECT_FALSE(given.follows_annealing);
    EXPECT_EQ(given.temperature, 310);
}
