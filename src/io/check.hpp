// SPDX-License-Identifier: Apache-2.0
// What one input alone cannot tell: options that contradict each other, values that follow from others, and parameters that do
// not fit the system. Everything a check changes or assumes is told in a note; what makes the run meaningless is an InputError at
// the option's line.
#pragma once

#include "io/mdp.hpp"
#include "model/system.hpp"

namespace parhelion {

// Resolves every value that depends on others (coupling intervals, energy intervals, groups with their temperatures), as GROMACS
// does, and refuses contradictions (E107) and unsupported combinations (E140). Called by the .mdp reader; idempotent.
void check_parameters(MdpInput& input, Diagnostics& diagnostics);

// Whether the parameters suit the system: box against cut-off, groups, degrees of freedom, time step against bond vibrations,
// velocities, restraints, net charge. Precondition: groups of the system are complete. Throws InputError E150 ... E156.
void check_system(const MdpInput& input, System& system, Diagnostics& diagnostics);

} // namespace parhelion
