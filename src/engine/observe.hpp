// SPDX-License-Identifier: Apache-2.0
// Computes from the sums of a step the observables that an energy frame contains.
#pragma once

#include "engine/observe_body.hpp"
#include "engine/rank.hpp"

namespace parhelion {

// Sets r.observables for the step just taken, except conserved energy and the barostat's next values. The
// step must have computed energies and virial. `kinetic`: the kinetic energy of the step.
template <class N>
void observe(Rank<N>& r, const KineticEnergies& kinetic);

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
