// SPDX-License-Identifier: Apache-2.0
// A rank's view of the communication layer: its number, the group of all ranks with sums and symmetric memory, its channels,
// groups of some ranks, and setup messages of any size. All members are for the rank's own thread. Every wait is bounded: the
// rank that first reaches its deadline gets CommError, all others PeerAborted.
//
// This header is the promise to every program that uses the library. The engine does not need all of it: groups, symmetric memory
// and barriers are for others.
#pragma once

#include "comm/bootstrap.hpp"
#include "comm/rank_group.hpp"

#include <map>
#include <span>
#include <vector>

namespace parhelion {

// A message of any size.
struct SetupMessage
{
    int peer; // its destination or source
    Bytes bytes;
};

class Communicator : public RankGroup // of all ranks
{
public:
    Communicator(World& world, int rank);

    int rank() const { return place(); }
    int ranks() const { return static_cast<int>(members().size()); }
    // Some ranks, this one among them, in this order; all of them call, in one order for the same members. Returns at once.
    RankGroup group(std::vector<int> members);

    // The ends of a channel to or from another rank. Returns at once, whether or not the peer has opened its end; each end is
    // opened once in the life of a world. Throws ContractError if the peer's options differ.
    SendChannel open_send(const std::string& label, int peer, const ChannelOptions& options = {});
    ReceiveChannel open_receive(const std::string& label, int peer, const ChannelOptions& options = {});

    // Sends setup messages and returns one for each of `sources`, in this order. Between two ranks they keep their order; a rank
    // may send to itself, to nobody, or several times to one peer. Every message needs its entry in the destination's sources.
    // Sends and receives advance together, so that no order of calls and no size can block.
    std::vector<SetupMessage> exchange(std::span<const SetupMessage> messages, std::span<const int> sources);

    // Between the two this rank does something else: it writes a file, for instance. No wait of another rank comes to its
    // deadline meanwhile, and each has its whole deadline afterwards, as what this rank owes may be late. Calls come in pairs.
    void pause_deadlines();
    void resume_deadlines();

    // Where this rank's program is, for the text of failures: WorldOptions::tag_name says what the number is of.
    void set_tag(std::int64_t tag);
    // This rank stops for a reason of its own: all waits of the others end with PeerAborted.
    void abort();
    // Throws PeerAborted if a wait of any rank has failed, or a rank has been lost.
    void expect_whole();

private:
    ChannelPair& setup_peer(int peer);

    std::map<std::vector<int>, int> groups_made_;
    std::map<int, ChannelPair> setup_peers_; // opened at first use
};

} // namespace parhelion
