// SPDX-License-Identifier: Apache-2.0
// The conserved energy of runs whose box a barostat scales (docs/decisions/0031-conserved-energy.md).
#include "dynamics/degrees_of_freedom.hpp"
#include "run_helpers.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// A liquid that is pressed together.
Refdata pressed(const std::string& system, Barostat barostat)
{
    Refdata data = load_refdata(system);
    RunParameters& p = data.parameters;
    p.dt = 0.002;
    p.thermostat = Thermostat::VRescale;
    p.temperature_groups = {{"System", 0.2, 300}};
    p.temperature_interval = 5;
    p.barostat = barostat;
    p.tau_p = 0.5, p.pressure_interval = 5;
    p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
    p.reference_pressure = {10000, 10000, 10000};
    return data;
}

// Returns the change of a run's conserved energy over (2/3) K |ln(V / V0)|, K being the kinetic energy of turning groups.
double change_over_that_of_turning(const Refdata& data, double turning_share)
{
    Recorder recorder;
    Simulation run = simulate(data, Precision::Mixed);
    run.run(100, recorder, never);
    const Observables &first = recorder.observables.front(), &last = recorder.observables.back();
    const double growth = std::log(last.box.volume() / first.box.volume());
    EXPECT_LT(growth, -0.03);
    return (last.conserved - first.conserved) / std::abs(2.0 / 3 * turning_share * last.kinetic_energy * growth);
}

} // namespace

// Without what scaling takes from the forces that hold turning molecules together it is 1: 1.00 and 0.97 were seen.
TEST(ConservedEnergy, stays_while_barostats_scale_boxes_of_molecules_that_turn)
{
    for (const Barostat barostat : {Barostat::CRescale, Barostat::Berendsen})
    {
        const double rigid_water = 3.0 / 6; // of the degrees of freedom
        EXPECT_NEAR(change_over_that_of_turning(pressed("spce", barostat), rigid_water), 0, 0.1);
        const Refdata ethanol = pressed("etoh", barostat);
        EXPECT_NEAR(change_over_that_of_turning(ethanol, turning_share(ethanol.system.topology)), 0, 0.1);
    }
}
