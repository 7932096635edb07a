// SPDX-License-Identifier: Apache-2.0
// The points of simulated annealing: which of the numbers in the .mdp are whose.
#pragma once

#include "io/mdp.hpp"

namespace parhelion {

// Moves what the .mdp gives to the temperature groups of `parameters`, which are there. Throws InputError E107 for numbers that
// do not fit, as grompp does.
void take_annealing(MdpInput& input, Diagnostics& diagnostics);

// Says so where annealing is asked for, and no thermostat would follow it.
void note_idle_annealing(const MdpInput& input, Diagnostics& diagnostics);

// Throws InputError E107 unless all temperature groups are annealed alike, so that the noise of C-rescale has a temperature.
void check_annealed_noise(const MdpInput& input);

// The reference temperature that a group begins with, annealed or not, K.
double starting_temperature(const TemperatureGroup& group);

} // namespace parhelion
