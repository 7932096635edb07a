// SPDX-License-Identifier: Apache-2.0
// The water/ethanol benchmark series: 1 ethanol to 7 waters, 3 000 to 46 million atoms, as GROMACS input files. Boxes are copies
// of an equilibrated tile (3 000 or 45 000 atoms) made by this engine with tools/make_tile.py and kept as an .xtc frame inside
// the program.
#pragma once

#include "base/vec3.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace parhelion {

enum class SeriesElectrostatics : std::uint8_t
{
    ReactionField,
    Pme
};
const char* electrostatics_name(SeriesElectrostatics electrostatics); // "rf", "pme"

struct EthanolWaterOptions
{
    std::int64_t atoms = 45000;
    SeriesElectrostatics electrostatics = SeriesElectrostatics::ReactionField;
    std::uint64_t seed = 2026; // of the velocities, 300 K
};

// The sizes of the series: 3 000 * 2^k below 45 000, then 45 000 * 2^k up to 46 080 000.
std::vector<std::int64_t> ethanol_water_sizes();

// Writes conf.gro, topol.top and md.mdp into `folder` (created if missing). Throws InputError for a size that is not of the
// series and SystemError if a file cannot be written.
void generate_ethanol_water(const EthanolWaterOptions& options, const std::filesystem::path& folder);

// The text of the topology with the given number of 3 000- or 45 000-atom tiles (100 + 700 or 1500 + 10500 molecules each).
std::string ethanol_water_topology(std::int64_t tiles, std::int64_t ethanols, std::int64_t waters);

} // namespace parhelion
