// SPDX-License-Identifier: Apache-2.0
// Units of AMBER's coordinate and restart files.
#pragma once

namespace parhelion {

inline constexpr double nm_per_angstrom = 0.1;
inline constexpr double amber_velocity = 20.455; // Angstrom/ps: AMBER's unit of time is 1/20.455 ps

} // namespace parhelion
