// SPDX-License-Identifier: Apache-2.0
// From sums to observables: what an energy frame says about a step.
#pragma once

#include "engine/rank.hpp"

namespace parhelion {

// Writes r.observables for the step just taken; `before` is the kinetic energy of v(t - dt/2), r.coupling.half_step that of v(t +
// dt/2). Energies and virial must have been computed in this step. All but the conserved energy and what the barostat does next.
template <class N>
void observe(Rank<N>& r, const KineticEnergies& before);

// After the box has been scaled: the conserved energy of the observed step, and the pressure that Parrinello-Rahman acts on in
// the next.
template <class N>
void balance_energy(Rank<N>& r);

} // namespace parhelion
