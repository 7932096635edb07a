// SPDX-License-Identifier: Apache-2.0
// The hand-over from one stage of a simulation to the next (`-t FILE`): positions, velocities and box with all their digits, from
// a checkpoint of ours or a .trr, into a run with other parameters. The new run counts its steps and its time from its own
// init-step and tinit, as after `grompp -t`. Cost: that of reading one frame.
#pragma once

#include "io/named_list.hpp"
#include "model/run_parameters.hpp"
#include "model/saved_state.hpp"
#include "model/system.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace parhelion {

struct HandOver
{
    std::string text;                // what was taken, for the log: "nvt.cpt, 2 ps: positions, velocities, box"
    std::optional<SavedState> state; // of a checkpoint: the engine's own numbers, and the coupling that the new run goes on with
    NamedList<std::string> run;      // of a checkpoint: identify_run() of the run that wrote it
};

// What a simulation takes: null where the system says it all.
inline const SavedState* state_of(const std::optional<HandOver>& hand_over)
{
    return hand_over && hand_over->state ? &*hand_over->state : nullptr;
}

// Replaces positions, velocities and box of `system`, which has a topology. `at`, ps: the first frame at or after this time;
// nothing: the last. Frames without positions are passed over, as are those without velocities if the parameters need them.
// Throws InputError: E110, E182, E190 as the readers do,
// E580 for a box whose edges lean too far, E175 a file of another kind, E176 another number of atoms, E177 no frame with what is
// needed.
HandOver read_hand_over(const std::filesystem::path& path, std::optional<double> at, const RunParameters& parameters,
                        System& system);

// Drops the coupling variables that a run with these parameters, which are checked, has no use for, and names the others in the
// text. They are kept if the same thermostat acts on the same groups, or the same barostat
// on the same joined edges.
void keep_what_fits(const RunParameters& parameters, HandOver& hand_over);

} // namespace parhelion
