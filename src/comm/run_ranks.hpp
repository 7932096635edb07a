// SPDX-License-Identifier: Apache-2.0
// The ranks of this process: a thread each.
#pragma once

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "comm/world.hpp"

#include <functional>

namespace parhelion {

// A rank's program that tells by a number that it stops the run, as those in C do.
class ProgramStopped : public SystemError
{
    using SystemError::SystemError;
};

// Calls body(rank) for every one of these ranks at once, the first on the calling thread. If one throws, abort(rank) is called,
// which must end the waits of the others; the first to fail for a reason of its own (not PeerAborted) is rethrown.
void run_ranks(RankRange ranks, const std::function<void(int rank)>& body, const std::function<void(int rank)>& abort);

// Likewise with the communicators of a world, which has made none before.
void run_ranks(World& world, const std::function<void(Communicator&)>& body);

} // namespace parhelion
