// SPDX-License-Identifier: Apache-2.0
// The values of ref-p and compressibility: one, two or six numbers, by pcoupltype, and which axis each is for.
#pragma once

#include "io/mdp.hpp"

#include <string>

namespace parhelion {

// Moves what the .mdp gives for its pcoupltype to `parameters` by axis; needed where pcoupl is on. Throws InputError: E105 a
// negative compressibility, E107 another number of values, E140 a compressibility that would shear the box. Notes what is not
// used.
void take_pressure_values(MdpInput& input, Diagnostics& diagnostics);

// As an .mdp has them.
std::string compressibility_text(const RunParameters& parameters);
std::string reference_pressure_text(const RunParameters& parameters);

} // namespace parhelion
