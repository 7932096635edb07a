// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <fmt/format.h>

namespace parhelion {

void command_generate(const GenerateOptions& options)
{
    for (const char* name : {"conf.gro", "topol.top", "md.mdp"})
    {
        const std::filesystem::path path = options.folder / name;
        if (options.force || !std::filesystem::exists(path)) { continue; }
        throw InputError("E302", {path.string(), 0},
                         "exists already (it would be written over). Name another folder with -d, or say --force.");
    }
    generate_ethanol_water(options.series, options.folder);
    fmt::print("{} atoms: {}/conf.gro topol.top md.mdp\n", options.series.atoms, options.folder.string());
}

} // namespace parhelion
