// SPDX-License-Identifier: Apache-2.0
#include "run/read_input.hpp"

#include "io/input/warning_ids.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace parhelion {

LoadedInput read_input(const RunInput& input, Purpose purpose, Diagnostics& diagnostics,
                       const std::function<void(const std::string& line)>& tell)
{
    LoadedInput loaded = load_gromacs(input.files, diagnostics);
    std::string refused;
    for (const Warning& warning : diagnostics.warnings)
    {
        const auto* const about = std::find_if(std::begin(warning_ids), std::end(warning_ids),
                                               [&](const WarningId& known) { return known.id == warning.id; });
        if (purpose == Purpose::SinglePoint && about != std::end(warning_ids) && about->is_of_motion)
        {
            tell("note: " + warning.text());
            continue;
        }
        const bool allowed = std::find(input.allowed.begin(), input.allowed.end(), warning.id) != input.allowed.end();
        tell(fmt::format("warning: {}{}", warning.text(), allowed ? " (allowed)" : ""));
        if (!allowed && refused.find(warning.id) == std::string::npos) { refused += " --allow " + warning.id; }
    }
    if (!refused.empty())
    {
        throw InputError("E001", {}, fmt::format("the warnings above stop the run. If each is what you want, add:{}", refused));
    }
    return loaded;
}

} // namespace parhelion
