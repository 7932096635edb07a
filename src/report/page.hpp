// SPDX-License-Identifier: Apache-2.0
// The page of a run, or of two runs side by side: one HTML file that needs no other files and no network. Charts are drawn
// here (report/chart.hpp). A short script shows values at the pointer (report/page.js); the page is complete without it.
#pragma once

#include "report/record.hpp"

#include <span>
#include <string>

namespace parhelion {

// Returns the page as HTML. Precondition: one run, or two.
std::string report_page(std::span<const RunRecord> runs);

// Returns the numbers of the page as JSON: {"runs": [...]}.
std::string report_numbers(std::span<const RunRecord> runs);

} // namespace parhelion
