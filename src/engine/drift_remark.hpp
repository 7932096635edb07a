// SPDX-License-Identifier: Apache-2.0
// The remark on the drift of a run's conserved quantity: whether there is one, and what it may come from.
#pragma once

#include "engine/simulation.hpp"

#include <string>

namespace parhelion {

// What a sound run stays below, kT/ns/atom: lists are planned for 0.004, and constraints and rounding add less.
inline constexpr double sound_drift = 0.01;

// Warning W140 if the conserved quantity drifts by more than sound_drift and five standard errors, and has moved by more than
// 0.001 kT/atom: a start that relaxes shifts what leap-frog conserves by as much, once. With the likeliest cause that the run
// bears out. Empty otherwise, and for a run that is shorter than 1 ps or has fewer than ten energies, whose error means little.
std::string drift_remark(const RunSummary& summary, const RunParameters& run);

} // namespace parhelion
