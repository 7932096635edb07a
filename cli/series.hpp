// SPDX-License-Identifier: Apache-2.0
// Simulations of the water/ethanol series, for benchmarks. Cost: writing and reading the files of the box.
#pragma once

#include "commands.hpp"

namespace parhelion {

// They return a box of the series with the settings of its md.mdp. They throw the errors of reading and planning.
LoadedInput series_input(std::int64_t atoms, SeriesElectrostatics electrostatics);
Simulation series_simulation(std::int64_t atoms, SeriesElectrostatics electrostatics, const EngineOptions& engine);

} // namespace parhelion
