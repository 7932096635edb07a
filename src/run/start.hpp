// SPDX-License-Identifier: Apache-2.0
// The work of a run before its first step: it reads and checks the input, and finds the checkpoint from
// which the run continues. No file of an earlier run is changed until the new run is known to be possible.
#pragma once

#include "io/input/checkpoint.hpp"
#include "io/input/named_list.hpp"
#include "run/lock.hpp"
#include "run/run.hpp"

#include <memory>
#include <optional>
#include <string>

namespace parhelion {

inline constexpr const char* log_ending = ".log";

// A run whose input has been read and checked, ready to begin.
struct Ready
{
    const RunRequest& request;
    SimulationOptions engine;
    LoadedInput input;
    Diagnostics diagnostics;
    double load_s = 0;
    std::int64_t steps = 0;      // requested number of steps; negative: the run has no end
    std::int64_t steps_left = 0; // number of steps to do; `endless` (engine/run_length.hpp) if there is no end
    NamedList<std::string> identity;
    std::unique_ptr<RunLock> lock; // null: the first process has the lock
    CheckpointFiles checkpoints;
    std::string remark;                  // remark about the checkpoint
    std::optional<Checkpoint> continued; // the checkpoint to continue from
    bool is_complete = false;            // no steps are left to do

    const SavedState* start() const { return continued ? &continued->state : state_of(input.hand_over); }
};

enum class RunRole : std::uint8_t
{
    Writes, // makes a whole run, or is its first process
    TakesPart
};

// Reads and checks the input. The request must outlive the result. Throws InputError, SystemError.
Ready make_ready(const RunRequest& request, RunRole role, RunObserver& observer);
// Moves what an earlier run with these outputs left to other names. Returns a sentence that tells them; empty: there was nothing.
std::string keep_outputs(const RunOutputs& files);

} // namespace parhelion
