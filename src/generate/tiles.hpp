// SPDX-License-Identifier: Apache-2.0
// The embedded files of the ethanol-water series (tiles.S): the topology of its
// molecules, and equilibrated tiles, which are .xtc frames made by tools/make_tile.py.
#pragma once

#include <cstddef>
#include <span>

namespace parhelion {

std::span<const std::byte> ethanol_water_molecules(); // the topology, up to and including the line [ molecules ]
std::span<const std::byte> ethanol_water_tile_3k();
std::span<const std::byte> ethanol_water_tile_45k();

} // namespace parhelion
