// SPDX-License-Identifier: Apache-2.0
// What thermostat and barostat carry from step to step: on a rank, in a snapshot, and as values of a checkpoint
// (coupling_values.hpp).
#pragma once

#include "dynamics/barostat.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/thermostat.hpp"

namespace parhelion {

struct Coupling
{
    ThermostatState thermostat;
    BarostatState barostat;
    // Given by the bath of stochastic dynamics so far, less what removing the motion of the centre of mass took, kJ/mol.
    double bath_heat = 0;
    // Of the velocities, as of the last step that asked for it. Not recomputed from them: where the barostat has scaled both,
    // that would differ in the last bits.
    KineticEnergies half_step;
};

} // namespace parhelion
