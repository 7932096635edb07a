// SPDX-License-Identifier: Apache-2.0
// The hand-over from one stage of a simulation to the next (`-t FILE`): positions, velocities and box in
// full precision, from a checkpoint of this program or a .trr, into a run with other parameters. As after
// `grompp -t`, the new run counts steps and time from its own init-step and tinit. Cost: reading one frame.
#pragma once

#include "io/input/named_list.hpp"
#include "model/run_parameters.hpp"
#include "model/saved_state.hpp"
#include "model/system.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace parhelion {

struct HandOver
{
    std::string text;                // description for the log: "nvt.cpt, 2 ps: positions, velocities, box"
    std::optional<SavedState> state; // state of a checkpoint: the engine's own numbers, and coupling variables
    NamedList<std::string> run;      // identify_run() of the run that wrote the checkpoint
};

// Returns the state for a simulation, or null if the system alone defines the start.
inline const SavedState* state_of(const std::optional<HandOver>& hand_over)
{
    return hand_over && hand_over->state ? &*hand_over->state : nullptr;
}

// Replaces positions, velocities and box of `system`, which has a topology. `at` (ps) selects the
// first frame at or after this time; without `at`, the last frame is taken. Frames without
// positions are skipped, and frames without velocities if the parameters need them. Throws
// InputError: E110, E182, E190 as the readers do; E580 for a box whose edges lean too far, E175 for
// a file of another kind, E176 for another number of atoms, E177 if no frame has the needed data.
HandOver read_hand_over(const std::filesystem::path& path, std::optional<double> at, const RunParameters& parameters,
                        System& system);

// Drops the coupling variables that a run with these (checked) parameters does not
// use, and names the kept variables in the text. A variable is kept if the same
// thermostat acts on the same groups, or the same barostat on the same joined edges.
void keep_what_fits(const RunParameters& parameters, HandOver& hand_over);

} // namespace parhelion
