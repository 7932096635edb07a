// SPDX-License-Identifier: Apache-2.0
// What is said of a run when it is over: the report and the last line of the log.
#pragma once

#include "engine/simulation.hpp"
#include "run/placement.hpp"
#include "run/report.hpp"

#include <cstdint>
#include <string>

namespace parhelion {

// dt in ps. `energies`: their means over the whole run.
RunReport make_report(const RunNumerics& numerics, const RunSummary& summary, const PlanSummary& plan, std::int64_t atoms,
                      double dt, NamedList<RunReport::Spread> energies);

// The last line of the log.
std::string summary_line(const RunSummary& summary, bool minimised);
// "largest force 98.8 kJ/mol/nm (not converged)", for a minimisation.
std::string force_text(const RunSummary& summary);
// The drift of the conserved quantity, with its error.
std::string drift_text(const RunSummary& summary);

} // namespace parhelion
