// SPDX-License-Identifier: Apache-2.0
// The temperature of the volume fluctuations, used for C-rescale's noise.
#pragma once

#include "io/input/mdp.hpp"

namespace parhelion {

// Throws InputError E107 if no such temperature is defined, or if ensemble-temperature contradicts the
// groups' reference temperatures. Does nothing without temperature groups, because that is another error.
void check_noise_temperature(const MdpInput& input);

} // namespace parhelion
