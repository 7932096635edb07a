// SPDX-License-Identifier: Apache-2.0
// A box of the water/ethanol series, by way of its files.
#pragma once

#include "generate/ethanol_water.hpp"
#include "io/input/load.hpp"

#include <filesystem>
#include <unistd.h>

namespace parhelion::test {

inline LoadedInput load_series(std::int64_t atoms = 45000)
{
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("parhelion-series-" + std::to_string(::getpid()));
    EthanolWaterOptions options;
    options.atoms = atoms;
    generate_ethanol_water(options, folder);
    InputFiles files;
    files.mdp = folder / "md.mdp", files.structure = folder / "conf.gro", files.topology = folder / "topol.top";
    Diagnostics diagnostics;
    LoadedInput input = load_gromacs(files, diagnostics);
    std::filesystem::remove_all(folder);
    return input;
}

} // namespace parhelion::test
