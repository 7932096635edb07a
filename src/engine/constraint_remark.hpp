// SPDX-License-Identifier: Apache-2.0
// Writes the remark on how well a run has kept its constraints.
#pragma once

#include "engine/simulation.hpp"

#include <string>

namespace parhelion {

// Returns warning W150, a sentence, if a constraint deviated by more than the LINCS tolerance in any step of the
// run; otherwise an empty text. If the deviation is much larger, the run ends by an error and has no summary.
std::string constraint_remark(const RunSummary& summary);

} // namespace parhelion
