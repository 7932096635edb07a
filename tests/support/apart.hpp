// SPDX-License-Identifier: Apache-2.0
// Ranks that do not reach each other's memory, in one process: a thread each, with a world and pages of its own. Messages lie in
// the source's outbox until it calls, and then in the destination's inbox until that calls, as with an MPI that moves messages
// only inside its calls. What passes between ranks is what passes through class Apart.
#pragma once

#include "comm/bootstraps/heard.hpp"
#include "comm/core/network.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace parhelion {

class Apart
{
public:
    explicit Apart(int ranks) : members_(static_cast<std::size_t>(ranks)) {}

    // Of one rank, whose world ends before this does.
    Network network(int rank);

private:
    friend class ApartBootstrap;
    friend class ApartTransport;
    struct Letter
    {
        Put put; // whose data, if any, are the payload
        Bytes payload;
    };
    struct Member
    {
        Heard heard;
        std::mutex mutex; // of the inbox
        std::deque<Letter> inbox;
    };
    Member& of(int rank) { return members_[static_cast<std::size_t>(rank)]; }

    std::deque<Member> members_; // which cannot move
};

} // namespace parhelion
