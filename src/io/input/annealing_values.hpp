// SPDX-License-Identifier: Apache-2.0
// Assigns the numbers of simulated annealing in the .mdp to temperature groups.
#pragma once

#include "io/input/mdp.hpp"

namespace parhelion {

// Moves the values of the .mdp to the temperature groups of `parameters`, which
// must exist. Throws InputError E107 for numbers that do not fit, as grompp does.
void take_annealing(MdpInput& input, Diagnostics& diagnostics);

// Adds a note if annealing is asked for but there is no thermostat that could follow it.
void note_idle_annealing(const MdpInput& input, Diagnostics& diagnostics);

// Throws InputError E107 unless all temperature groups are annealed alike: C-rescale's noise needs one temperature.
void check_annealed_noise(const MdpInput& input);

// Returns the reference temperature of a group at the start of the run, K, whether the group is annealed or not.
double starting_temperature(const TemperatureGroup& group);

} // namespace parhelion
