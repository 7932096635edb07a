// SPDX-License-Identifier: Apache-2.0
// The values of ref-p and compressibility: one, two or six numbers, depending on pcoupltype, and the axis of each.
#pragma once

#include "io/input/mdp.hpp"

#include <string>

namespace parhelion {

// Moves the values for this pcoupltype to `parameters`, by axis. They are required if
// pcoupl is on. Throws InputError: E105 a negative compressibility, E107 another number of
// values, E140 a compressibility that would shear the box. Notes values that are not used.
void take_pressure_values(MdpInput& input, Diagnostics& diagnostics);

// Returns the values as written in an .mdp.
std::string compressibility_text(const RunParameters& parameters);
std::string reference_pressure_text(const RunParameters& parameters);

} // namespace parhelion
