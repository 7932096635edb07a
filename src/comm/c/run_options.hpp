// SPDX-License-Identifier: Apache-2.0
// Declares how ph_run_with() checks its options and applies them.
#pragma once

#include "comm/c/parhelion_comm.h"
#include "comm/launch/run_ranks.hpp"

#include <functional>

namespace parhelion::c_interface {

// Returns the options of a run: the fields that the caller's header has (no fields if `given` is null), and defaults for all
// other fields. Throws PartitionedError.
ph_options checked(const ph_options* given);
WorldOptions world_options(const ph_options& options, int ranks);

// Runs the ranks of this process. If `interrupted` is given, every rank has its own thread, while the calling thread asks it
// whether to stop. If it says so, ProgramStopped is thrown once all ranks have ended.
void run_and_ask(World& world, int (*interrupted)(void*), void* data, const std::function<void(Communicator&)>& body);

// Counts the pauses of deadlines by one rank. Pairs of calls may be nested; the destructor ends open pauses.
class DeadlinePauses
{
public:
    explicit DeadlinePauses(Communicator& communicator) : communicator_(communicator) {}
    ~DeadlinePauses();
    DeadlinePauses(const DeadlinePauses&) = delete;
    DeadlinePauses& operator=(const DeadlinePauses&) = delete;

    void pause();
    void resume(); // throws PartitionedError if there was no pause

private:
    Communicator& communicator_;
    int open_ = 0;
};

} // namespace parhelion::c_interface
