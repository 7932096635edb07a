// SPDX-License-Identifier: Apache-2.0
// Simulations of the water/ethanol series, for benchmarks. Cost: writing and reading the files of the box.
#pragma once

#include "commands.hpp"

namespace parhelion {

// With the settings of the series' md.mdp. They throw what reading and planning throw.
LoadedInput series_input(std::int64_t atoms, SeriesElectrostatics electrostatics);
Simulation series_simulation(std::int64_t atoms, SeriesElectrostatics electrostatics, const EngineOptions& engine);

} // namespace parhelion
