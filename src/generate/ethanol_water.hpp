// SPDX-License-Identifier: Apache-2.0
// Writes the water/ethanol benchmark series as GROMACS input files: 1 ethanol to 7 waters, 3 000
// to 46 million atoms. Boxes are copies of an equilibrated tile (3 000 or 45 000 atoms), which
// this engine made with tools/make_tile.py. The tiles are embedded in the program as .xtc frames.
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
const char* electrostatics_name(SeriesElectrostatics electrostatics); // "rf" or "pme"

struct EthanolWaterOptions
{
    std::int64_t atoms = 45000;
    SeriesElectrostatics electrostatics = SeriesElectrostatics::ReactionField;
    std::uint64_t seed = 2026; // seed of the velocities, which are drawn from a distribution at 300 K
};

// Returns the sizes of the series: 3 000 * 2^k below 45 000, then 45 000 * 2^k up to 46 080 000 atoms.
std::vector<std::int64_t> ethanol_water_sizes();

// Writes conf.gro, topol.top and md.mdp to `folder` (created if missing). Throws InputError
// for a size that is not in the series, and SystemError if a file cannot be written.
void generate_ethanol_water(const EthanolWaterOptions& options, const std::filesystem::path& folder);

// Returns the topology for `tiles` tiles of 3 000 or 45 000 atoms (100 + 700 or 1500 + 10500 molecules each).
std::string ethanol_water_topology(std::int64_t tiles, std::int64_t ethanols, std::int64_t waters);

} // namespace parhelion
