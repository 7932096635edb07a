// SPDX-License-Identifier: Apache-2.0
// The remark on how well a run has kept its constraints.
#pragma once

#include "engine/simulation.hpp"

#include <string>

namespace parhelion {

// A sentence, W150, if a constraint was off by more than LINCS promises in any step of the run; else empty. What is off by much
// more ends a run, and no summary is made.
std::string constraint_remark(const RunSummary& summary);

} // namespace parhelion
