// SPDX-License-Identifier: Apache-2.0
// Which run is it? Everything that decides what the steps of a run are, as names and values: two runs with the same identity are
// the same run, and a checkpoint of one continues the other. Cost: one pass over positions and topology, 0.2 ns per byte.
#pragma once

#include "io/named_list.hpp"
#include "model/run_parameters.hpp"
#include "model/saved_state.hpp"
#include "model/system.hpp"

#include <string>

namespace parhelion {

// The number of atoms, the parameters as in the .mdp (without nsteps: a run may be prolonged), and hashes of topology, start,
// position restraints' reference and index groups. `precision` is the engine's, in words. `start`: a state of another run that
// this one starts from, or null.
NamedList<std::string> identify_run(const System& system, const RunParameters& parameters, const std::string& precision,
                                    const SavedState* start = nullptr);

// "dt (0.002 then, 0.001 now)" for each entry that must not differ but does, the first few of them; empty if none does.
std::string difference(const NamedList<std::string>& then, const NamedList<std::string>& now);
// The same for what a run may change when it goes on: how often frames, energies and the log are written, and the precision of
// the .xtc.
std::string output_difference(const NamedList<std::string>& then, const NamedList<std::string>& now);

} // namespace parhelion
