// SPDX-License-Identifier: Apache-2.0
// A rank's view of the communication layer: its number, the group of all ranks with sums and symmetric memory, its channels,
// groups of some ranks, and setup messages of any size. Only the rank's own thread may call it. Every wait is bounded: the rank
// that is first to reach its deadline gets CommError, all other ranks get PeerAborted.
//
// This header is the stable interface for every program that uses the library. The engine does not use all of it: groups,
// symmetric memory and barriers are for other programs.
#pragma once

#include "comm/core/bootstrap.hpp"
#include "comm/world/rank_group.hpp"

#include <map>
#include <span>
#include <vector>

namespace parhelion {

// A message of any size, sent and received by exchange().
struct SetupMessage
{
    int peer; // rank: destination of a message to send, source of a received message
    Bytes bytes;
};

class Communicator : public RankGroup // a communicator is the group of all ranks
{
public:
    Communicator(World& world, int rank);

    int rank() const { return place(); }
    int ranks() const { return static_cast<int>(members().size()); }
    // Returns at once a group of these ranks, in this order. All members call it, for groups of the same members in the same
    // order.
    RankGroup group(std::vector<int> members);

    // Open an end of a channel to or from another rank. They return at once, whether or not the peer has opened its end. Each end
    // is opened once in the life of a world. They throw ContractError if the peer's options differ.
    SendChannel open_send(const std::string& label, int peer, const ChannelOptions& options = {});
    ReceiveChannel open_receive(const std::string& label, int peer, const ChannelOptions& options = {});

    // Sends setup messages, and returns one received message for each of `sources`, in this order. Messages between two ranks
    // keep their order. A rank may send to itself, to no rank, or several times to one peer. Every message needs an entry in
    // the destination's `sources`. Sends and receives advance together, so that no order of calls and no size can block.
    std::vector<SetupMessage> exchange(std::span<const SetupMessage> messages, std::span<const int> sources);

    // Between these two calls this rank does other work, such as writing a file, so that its messages may be late. Meanwhile no
    // wait of another rank reaches its deadline. Afterwards each wait has its whole deadline again. Calls come in pairs.
    void pause_deadlines();
    void resume_deadlines();

    // Sets a number that texts of failures show, to tell where this rank's program is. WorldOptions::tag_name is its noun.
    void set_tag(std::int64_t tag);
    // Stops the run for a reason of this rank: all waits of the other ranks then throw PeerAborted.
    void abort();
    // Throws PeerAborted if a wait of any rank has failed, or a rank has been lost.
    void expect_whole();

private:
    ChannelPair& setup_peer(int peer);

    std::map<std::vector<int>, int> groups_made_;
    std::map<int, ChannelPair> setup_peers_; // channels for setup messages, by peer; opened at first use
};

} // namespace parhelion
