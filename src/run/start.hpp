// SPDX-License-Identifier: Apache-2.0
// What a run does before its first step: it reads and checks the input, and finds what the run goes on from. Nothing of
// an earlier run is touched until the new one is known to be possible.
#pragma once

#include "io/checkpoint.hpp"
#include "io/named_list.hpp"
#include "run/lock.hpp"
#include "run/run.hpp"

#include <memory>
#include <optional>
#include <string>

namespace parhelion {

inline constexpr const char* log_ending = ".log";

// A run that has been read and checked, and may begin.
struct Ready
{
    const RunRequest& request;
    SimulationOptions engine;
    LoadedInput input;
    Diagnostics diagnostics;
    double load_s = 0;
    std::int64_t steps = 0;      // asked for; negative: no end
    std::int64_t steps_left = 0; // of these
    NamedList<std::string> identity;
    std::unique_ptr<RunLock> lock; // none: the first process has it
    CheckpointFiles checkpoints;
    std::string remark;                  // on these
    std::optional<Checkpoint> continued; // what it goes on from
    bool is_complete = false;            // nothing is left to be done

    const SavedState* start() const { return continued ? &continued->state : state_of(input.hand_over); }
};

enum class RunRole : std::uint8_t
{
    Writes, // all of a run, or its first process
    TakesPart
};

// Reads and checks. The request outlives the result. Throws InputError, SystemError.
Ready make_ready(const RunRequest& request, RunRole role, RunObserver& observer);
// Moves what an earlier run with this prefix left to other names. Returns a sentence that tells them; empty: there was nothing.
std::string keep_outputs(const std::string& prefix);

} // namespace parhelion
