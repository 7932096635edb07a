// SPDX-License-Identifier: Apache-2.0
#include "engine/constraint_remark.hpp"

#include "dynamics/lincs.hpp"

#include <fmt/format.h>

namespace parhelion {

std::string constraint_remark(const RunSummary& summary)
{
    const bool is_above = summary.constraint_deviation > LincsSettings::tolerance + 0.5 * deviation_unit; // rounded to a unit
    if (!is_above) { return ""; }
    return fmt::format("W150 a constraint was off its length by {:.1e}, relative, where {:.0e} is promised (LINCS converges "
                       "slowly: a light atom has several constraints, or bonds turn far in a step). Use a shorter dt or a larger "
                       "lincs-order.",
                       summary.constraint_deviation, LincsSettings::tolerance);
}

} // namespace parhelion
