// SPDX-License-Identifier: Apache-2.0
#include "generate/tiles.hpp"

// These symbols are defined in tiles.S.
extern "C" const std::byte parhelion_tile_3k[], parhelion_tile_3k_end[], parhelion_tile_45k[], parhelion_tile_45k_end[],
    parhelion_molecules[], parhelion_molecules_end[];

namespace parhelion {

std::span<const std::byte> ethanol_water_molecules() { return {parhelion_molecules, parhelion_molecules_end}; }
std::span<const std::byte> ethanol_water_tile_3k() { return {parhelion_tile_3k, parhelion_tile_3k_end}; }
std::span<const std::byte> ethanol_water_tile_45k() { return {parhelion_tile_45k, parhelion_tile_45k_end}; }

} // namespace parhelion
