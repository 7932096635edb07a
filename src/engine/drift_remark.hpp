// SPDX-License-Identifier: Apache-2.0
// The remark on the drift of a run's conserved quantity.
#pragma once

#include "engine/simulation.hpp"

#include <string>

namespace parhelion {

// A warning if the conserved quantity drifts absurdly: by more than 1 kT/ns/atom, which is a hundred times the drift of a sound
// run, by more than four standard errors, and by more than 0.01 kT/atom over the run (a short run still wavers). Else empty.
// dt in ps.
std::string drift_remark(const RunSummary& summary, double dt);

} // namespace parhelion
