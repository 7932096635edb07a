// SPDX-License-Identifier: Apache-2.0
#include "engine/drift_remark.hpp"

#include <cmath>
#include <fmt/format.h>

namespace parhelion {

std::string drift_remark(const RunSummary& summary, double dt)
{
    constexpr double absurd_rate = 1, noticeable = 0.01; // kT/ns/atom, kT/atom
    const double rate = std::abs(summary.drift), moved = rate * static_cast<double>(summary.steps) * dt * 1e-3;
    const bool is_absurd = rate > absurd_rate && moved > noticeable && rate > 4 * summary.drift_error; // false for NaN
    if (!is_absurd) { return ""; }
    return fmt::format(
        "warning: the conserved quantity drifts by {:+.3f} +- {:.3f} kT/ns/atom, which is absurd: the run does not "
        "conserve energy. Is the time step ({:g} ps) too long, or has the system not been minimised?",
        summary.drift, summary.drift_error, dt);
}

} // namespace parhelion
