// SPDX-License-Identifier: Apache-2.0
// Reads acc-grps and accelerate of the .mdp: constant accelerations of groups.
#pragma once

#include "io/input/mdp.hpp"

namespace parhelion {

// Moves the values of acc-grps and accelerate to `parameters` and leaves out groups
// of acceleration 0. Throws InputError E107 unless each group has three numbers.
void take_accelerated_groups(MdpInput& input);

} // namespace parhelion
