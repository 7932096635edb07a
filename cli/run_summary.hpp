// SPDX-License-Identifier: Apache-2.0
// What is said of a run when it is over: the report, the last line of the log, and the screen.
#pragma once

#include "commands.hpp"
#include "io/report.hpp"

#include <string>

namespace parhelion {

// "mixed", "double reproducible".
std::string precision_text(const EngineOptions& engine);

RunReport make_report(const EngineOptions& engine, const RunSummary& summary, const PlanSummary& plan, std::int64_t atoms,
                      double dt, NamedList<RunReport::Spread> energies);

// The last line of the log.
std::string summary_line(const RunSummary& summary, bool minimised);

// On standard output. `averages`: lines about them; `trajectory`: one with all atoms, or empty.
struct RunResults
{
    std::string prefix, averages, trajectory;
    bool minimised = false;
};
void print_summary(const RunSummary& summary, const PlanSummary& plan, const RunResults& results);

} // namespace parhelion
