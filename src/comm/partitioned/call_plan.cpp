// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/call_plan.hpp"

#include "comm/partitioned/collective_plan.hpp"

#include <fmt/format.h>

namespace parhelion {

std::string CallTerms::text() const
{
    constexpr const char* names[] = {"barrier",   "split",          "all-reduce", "reduce",    "reduce-scatter",
                                     "scan",      "exclusive scan", "all-gather", "gather",    "scatter",
                                     "broadcast", "all-to-all",     "gather-v",   "scatter-v", "all-to-all-v"};
    std::string text = names[static_cast<std::size_t>(call)];
    if (call <= Call::Split) { return text; }
    if (call >= Call::AllReduce && call <= Call::ExclusiveScan) { text += fmt::format(" by {}", name_of(reduction)); }
    const bool has_own_counts = call >= Call::GatherV;
    text += has_own_counts ? fmt::format(" of {}", name_of(type)) : fmt::format(" of {} {}", count, name_of(type));
    const bool is_from_root = call == Call::Scatter || call == Call::Broadcast || call == Call::ScatterV;
    if (root >= 0) { text += fmt::format(" {} member {}", is_from_root ? "from" : "to", root); }
    return text;
}

void Round::clear(int members)
{
    sends.assign(static_cast<std::size_t>(members), {});
    takes.assign(static_cast<std::size_t>(members), {});
    terms.clear();
    result = nullptr;
    result_bytes = 0;
}

} // namespace parhelion
