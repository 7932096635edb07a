// SPDX-License-Identifier: Apache-2.0
// Runs the ranks of this process, each on a thread of its own.
#pragma once

#include "comm/world/communicator.hpp"
#include "comm/world/world.hpp"

#include <functional>

namespace parhelion {

// Calls body(rank) for all of these ranks at once, the first on the calling thread. If a body throws, abort(rank) is called,
// which must end the waits of the other ranks. Rethrows the first error that is not PeerAborted, the consequence of another.
void run_ranks(RankRange ranks, const std::function<void(int rank)>& body, const std::function<void(int rank)>& abort);

// Runs all ranks of a world, as above, with their communicators. None of these may have been made before.
void run_ranks(World& world, const std::function<void(Communicator&)>& body);

} // namespace parhelion
