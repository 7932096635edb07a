// SPDX-License-Identifier: Apache-2.0
// acc-grps and accelerate of the .mdp: constant accelerations of groups.
#pragma once

#include "io/mdp.hpp"

namespace parhelion {

// Moves what the .mdp gives for acc-grps and accelerate to `parameters`; groups whose acceleration is 0 go. Throws InputError
// E107 unless each group has three numbers.
void take_accelerated_groups(MdpInput& input);

} // namespace parhelion
