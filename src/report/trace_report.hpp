// SPDX-License-Identifier: Apache-2.0
// Shows the analysis of a timeline, or of two side by side: as a screen of text, as JSON, or as an HTML page like that of a
// run (report/page.hpp). The page has figures of the lengths of steps, of a typical step and of the multiprocessors of GPUs.
#pragma once

#include "analysis/analysis.hpp"

#include <span>
#include <string>

namespace parhelion {

// Precondition of these functions: `traces` has one or two analyses.
std::string trace_text(std::span<const TraceAnalysis> traces);    // returns tables
std::string trace_advice(std::span<const TraceAnalysis> traces);  // returns sentences: what limits the step, and what to change
std::string trace_numbers(std::span<const TraceAnalysis> traces); // returns {"traces": [...]}
std::string trace_page(std::span<const TraceAnalysis> traces);

} // namespace parhelion
