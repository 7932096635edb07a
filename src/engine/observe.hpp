// SPDX-License-Identifier: Apache-2.0
// Computes from the sums of a step the observables that an energy frame contains.
#pragma once

#include "engine/rank.hpp"

namespace parhelion {

// Sets r.observables for the step just taken, except conserved energy and the barostat's next values. The step must have
// computed energies and virial. `before`: kinetic energy of v(t - dt/2); that of v(t + dt/2) is r.coupling.half_step.
template <class N>
void observe(Rank<N>& r, const KineticEnergies& before);

// Computes the conserved energy of the observed step, and the pressure on which Parrinello-Rahman acts in the next
// step. Call it after the box has been scaled.
template <class N>
void balance_energy(Rank<N>& r);

} // namespace parhelion
