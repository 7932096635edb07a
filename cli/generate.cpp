// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <fmt/format.h>

namespace parhelion {

void command_generate(const GenerateOptions& options)
{
    generate_ethanol_water(options.series, options.folder);
    fmt::print("{} atoms: {}/conf.gro topol.top md.mdp\n", options.series.atoms, options.folder.string());
}

} // namespace parhelion
