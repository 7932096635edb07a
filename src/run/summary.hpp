// SPDX-License-Identifier: Apache-2.0
// The results of a finished run: the report and the last line of the log.
#pragma once

#include "engine/options.hpp"
#include "engine/simulation.hpp"
#include "run/report.hpp"

#include <cstdint>
#include <string>

namespace parhelion {

// Returns the report. dt in ps. `energies`: averages over the whole run.
RunReport make_report(const RunNumerics& numerics, const RunSummary& summary, const PlanSummary& plan, std::int64_t atoms,
                      double dt, NamedList<RunReport::Spread> energies);

// Returns the borders of cells as text: "x 0.5000, z 0.1333 0.2667".
std::string borders_text(const Balance& balance);
// Describes what load balancing has found and done, as a line of the log.
std::string balance_text(const Balance& balance);
// Returns the last line of the log.
std::string summary_line(const RunSummary& summary, bool minimised);
// Returns, for example, "largest force 98.8 kJ/mol/nm (not converged)", for a minimisation.
std::string force_text(const RunSummary& summary);
// Describes the drift of the conserved quantity, with its error.
std::string drift_text(const RunSummary& summary);

} // namespace parhelion
