// SPDX-License-Identifier: Apache-2.0
// Computes from the sums of a step the observables that an energy frame contains.
#pragma once

#include "engine/rank.hpp"

namespace parhelion {

// Sets r.observables for the step just taken, except conserved energy and the barostat's next values. The
// step must have computed energies and virial. `kinetic`: the kinetic energy of the step.
template <class N>
void observe(Rank<N>& r, const KineticEnergies& kinetic);

// The energy that thermostats and the bath of stochastic dynamics have given to the system, as far as the kinetic energy of an
// observed step contains it.
struct GivenEnergy
{
    double thermostat = 0; // kJ/mol; conserved_contribution()
    double bath_heat = 0;  // kJ/mol; Coupling::bath_heat
};
template <class N>
GivenEnergy given_energy(const Rank<N>& r)
{
    return {conserved_contribution(r.temperature_coupling, r.coupling.thermostat), r.coupling.bath_heat};
}

// Computes the conserved energy of the observed step, and the pressure on which Parrinello-Rahman acts in the next
// step. Call it after the box has been scaled.
template <class N>
void balance_energy(Rank<N>& r, const GivenEnergy& given);

} // namespace parhelion
