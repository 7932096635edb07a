// SPDX-License-Identifier: Apache-2.0
// The identity of a run: everything that determines its steps, as names and values. Two runs with the same identity are
// the same run, and a checkpoint of one continues the other. Cost: one pass over positions and topology, 0.2 ns per byte.
#pragma once

#include "io/input/named_list.hpp"
#include "model/run_parameters.hpp"
#include "model/saved_state.hpp"
#include "model/system.hpp"

#include <string>

namespace parhelion {

// Returns the number of atoms, the parameters as in the .mdp (without nsteps, because a run may be
// prolonged), and hashes of topology, start, reference of position restraints and index groups. `precision`:
// the engine's precision, in words. `start`: the state of another run from which this run starts, or null.
NamedList<std::string> identify_run(const System& system, const RunParameters& parameters, const std::string& precision,
                                    const SavedState* start = nullptr);

// Returns a list such as "dt (0.002 then, 0.001 now)" of the first entries that differ but must not; nothing if none does.
std::string difference(const NamedList<std::string>& then, const NamedList<std::string>& now);
// Returns a list, in the form of difference(), of differences in entries that a continued run may
// change: output intervals of frames, energies and log, and the precision of the .xtc.
std::string output_difference(const NamedList<std::string>& then, const NamedList<std::string>& now);

} // namespace parhelion
