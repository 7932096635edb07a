// SPDX-License-Identifier: Apache-2.0
// The state that thermostat and barostat carry from step to step. A rank and a snapshot hold it, and a checkpoint
// stores its values (coupling_values.hpp).
#pragma once

#include "dynamics/barostat.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/thermostat.hpp"

namespace parhelion {

struct Coupling
{
    ThermostatState thermostat;
    BarostatState barostat;
    // The energy that the bath of stochastic dynamics has added so far, kJ/mol, minus that of removed centre-of-mass motion.
    double bath_heat = 0;
    // The kinetic energies of the half-step velocities in the last step that needed them. They are stored, not
    // computed again from the velocities: if the barostat has scaled both, the last bits of the two would differ.
    KineticEnergies half_step;
};

} // namespace parhelion
