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

// Throws InputError E140 for SHAKE where the molecules have constraints: known before the system is whole.
void check_constraint_algorithm(const MdpInput& input, const Topology& topology);

// Whether the parameters suit the system: box against cut-off, groups, restraints, charge, and for dynamics degrees of
// freedom, time step against bond vibrations, velocities. Builds the groups that the parameters name, writes their names as the
// system has them, and leaves velocities only where they will be used. Throws InputError E150 ... E157.
void check_system(MdpInput& input, System& system, Diagnostics& diagnostics);

} // namespace parhelion
