// SPDX-License-Identifier: Apache-2.0
// The temperature of the volume's fluctuation, which C-rescale's noise has.
#pragma once

#include "io/mdp.hpp"

namespace parhelion {

// Throws InputError E107 if there is no such temperature, or if ensemble-temperature contradicts those that groups are coupled
// to. Does nothing without temperature groups, which is another error.
void check_noise_temperature(const MdpInput& input);

} // namespace parhelion
