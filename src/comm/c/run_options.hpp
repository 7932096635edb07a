// SPDX-License-Identifier: Apache-2.0
// What ph_run_with() makes of its options.
#pragma once

#include "comm/c/parhelion_comm.h"
#include "comm/run_ranks.hpp"

#include <functional>

namespace parhelion::c_interface {

// Of a run's options what the caller's header knows (null: nothing), with defaults where nothing is said. Throws
// PartitionedError.
ph_options checked(const ph_options* given);
WorldOptions world_options(const ph_options& options);

// Runs the ranks here. With `interrupted` all of them are threads of their own, while this one asks whether to go on; if not, it
// throws ProgramStopped when all have ended.
void run_and_ask(World& world, int (*interrupted)(void*), void* data, const std::function<void(Communicator&)>& body);

// Of deadlines, by one rank: pairs of calls may be nested, and what is open ends with this.
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
