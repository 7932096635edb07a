// SPDX-License-Identifier: Apache-2.0
// Simulations of the water/ethanol series, which benchmarks time. Cost: that of writing and reading the files of the box.
#pragma once

#include "commands.hpp"

namespace parhelion {

// With the settings of the series' md.mdp. Throws what reading and planning throw.
Simulation series_simulation(std::int64_t atoms, SeriesElectrostatics electrostatics, const EngineOptions& engine);

} // namespace parhelion
