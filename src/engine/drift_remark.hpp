// SPDX-License-Identifier: Apache-2.0
// Writes the remark on the drift of a run's conserved quantity: whether it drifts, and the likely cause.
#pragma once

#include "engine/simulation.hpp"

#include <string>

namespace parhelion {

// The limit for the drift of a sound run, kT/ns/atom. Lists are planned for 0.004; constraints and rounding add less than that.
inline constexpr double sound_drift = 0.01;

// Returns warning W140 with the likeliest cause that the run supports, or an empty text. It warns if two conditions hold:
// the drift exceeds sound_drift and five standard errors, and the energy has changed by more than 0.001 kT/atom, as it may
// once while a start relaxes. Runs below 1 ps or with fewer than ten energies get no warning, as their error means little.
std::string drift_remark(const RunSummary& summary, const RunParameters& run);

} // namespace parhelion
