// SPDX-License-Identifier: Apache-2.0
// Draws figures of an analysis as inline SVG: the activities of a typical step over time, and the multiprocessors that kernels
// occupied. A name has the same colour in all figures of a trace; names with little time on the critical path share a colour.
#pragma once

#include "analysis/analysis.hpp"

#include <string>

namespace parhelion {

// Each returns a <figure>, or "" if there is nothing to draw. Activities on the critical path are opaque.
std::string draw_typical_step(const TraceAnalysis& analysis);
std::string draw_occupancy(const TraceAnalysis& analysis, const Occupancy& occupancy);

} // namespace parhelion
