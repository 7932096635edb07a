// SPDX-License-Identifier: Apache-2.0
// Checks that involve several inputs: options that contradict each other, values that follow from
// others, and parameters that do not fit the system. Every value that a check changes or assumes is
// reported in a note. If the run would be meaningless, it throws an InputError at the option's line.
#pragma once

#include "io/input/mdp.hpp"
#include "model/system.hpp"

#include <functional>

namespace parhelion {

// Resolves values that depend on others (coupling intervals, energy intervals, groups with their temperatures), as GROMACS does.
// Refuses contradictions (E107) and unsupported combinations (E140). The .mdp reader calls it; repeated calls change nothing.
void check_parameters(MdpInput& input, Diagnostics& diagnostics);

// Throws InputError E140 for SHAKE if the molecules have constraints. It can be called before the system is complete.
void check_constraint_algorithm(const MdpInput& input, const Topology& topology);

// Checks that the parameters fit the system: box and cut-off, groups, restraints, charge; for dynamics also degrees
// of freedom, time step and bond vibrations, velocities. Builds the groups that the parameters name, writes their
// names as in the system, and removes velocities that will not be used. Throws InputError E150 ... E157.
void check_system(MdpInput& input, System& system, Diagnostics& diagnostics);

// The part of check_system() that concerns groups. Throws InputError E150, E151, E153, E154.
void check_groups(MdpInput& input, System& system, Diagnostics& diagnostics);

// Throws InputError E152 if the box is too small for the cut-off. `where` returns the place of the option that sets it.
void check_box(const Box<double>& box, const RunParameters& parameters,
               const std::function<SourceLocation(const char* key)>& where);

} // namespace parhelion
