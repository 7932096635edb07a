// SPDX-License-Identifier: Apache-2.0
// What is said of a run when it is over: the report and the last line of the log.
#pragma once

#include "engine/simulation.hpp"
#include "io/report.hpp"
#include "run/placement.hpp"

#include <cstdint>
#include <string>

namespace parhelion {

// dt in ps. `energies`: their means over the whole run.
RunReport make_report(const RunNumerics& numerics, const RunSummary& summary, const PlanSummary& plan, std::int64_t atoms,
                      double dt, NamedList<RunReport::Spread> energies);

// The last line of the log.
std::string summary_line(const RunSummary& summary, bool minimised);
// Of a minimisation: "largest force 98.8 kJ/mol/nm (not converged)".
std::string force_text(const RunSummary& summary);
// Of the conserved quantity, with its error.
std::string drift_text(const RunSummary& summary);

} // namespace parhelion
