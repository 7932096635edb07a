// SPDX-License-Identifier: Apache-2.0
// The state that thermostat and barostat carry from step to step, in the one shape that CPUs, GPUs and snapshots share.
// A checkpoint stores its values by name. A new value needs a member here, or in the state of thermostat or barostat, and
// a name in coupling_values.hpp.
#pragma once

#include "dynamics/barostat.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/thermostat.hpp"

#include <vector>

namespace parhelion {

// The values that belong to no temperature group. A GPU copies them as bytes, like a ThermostatState.
struct SystemCoupling
{
    BarostatState barostat;
    // The energy that the bath of stochastic dynamics has added so far, kJ/mol, minus that of removed centre-of-mass motion.
    double bath_heat = 0;
};

struct Coupling : SystemCoupling
{
    std::vector<ThermostatState> thermostat; // indexed by temperature group
    // The kinetic energies of the half-step velocities in the last step that needed them. They are stored, not
    // computed again from the velocities: if the barostat has scaled both, the last bits of the two would differ.
    KineticEnergies half_step;
};

// Returns the state at the start of a run, with a place for every temperature group.
inline Coupling initial_coupling(const TemperatureCoupling& temperature)
{
    return {{}, initial_state(temperature), {std::vector<Mat3<double>>(temperature.groups.size())}};
}

} // namespace parhelion
