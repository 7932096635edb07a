// SPDX-License-Identifier: Apache-2.0
// The equilibrated tiles of the ethanol-water series: .xtc frames made by tools/make_tile.sh, embedded by tiles.S.
#pragma once

#include <cstddef>
#include <span>

namespace parhelion {

std::span<const std::byte> ethanol_water_tile_3k();
std::span<const std::byte> ethanol_water_tile_45k();

} // namespace parhelion
