// SPDX-License-Identifier: Apache-2.0
// What a rank holds of the communication layer: who it is, its channels, its symmetric memory, sums over all ranks, and messages
// of any size for setting up. All members are for the rank's own thread. Every wait is bounded: CommError for the rank that
// waited in vain first, PeerAborted for all others.
//
// This is what the room promises whoever uses it, in this program or another: also allocate(), release(), data() and barrier(),
// of which the engine has no need.
#pragma once

#include "comm/channel.hpp"

#include <map>
#include <span>
#include <vector>

namespace parhelion {

using Bytes = std::vector<std::byte>;

// A message of any size.
struct Parcel
{
    int peer; // its destination or source
    Bytes bytes;
};

class Communicator
{
public:
    Communicator(World& world, int rank);

    int rank() const { return rank_; }
    int ranks() const;

    // The ends of a channel to or from another rank. Returns at once, whether or not the peer has opened its end; each end is
    // opened once in the life of a world. Throws ContractError if the peer's options differ.
    SendChannel open_send(const std::string& label, int peer, const ChannelOptions& options = {});
    ReceiveChannel open_receive(const std::string& label, int peer, const ChannelOptions& options = {});

    // Symmetric memory: in this rank's arena, or at the same offset for all members of a team (which includes this rank; members
    // make their calls for a team in one order). Throws CommError if an arena is full.
    Window allocate(std::size_t bytes);
    Window allocate(const std::vector<int>& team, std::size_t bytes);
    void release(Window window);
    std::byte* data(Window window) const;

    // Element by element over all ranks, in rank order: every rank gets the same bits. Collective: all ranks call in one order.
    void sum(std::span<double> values);
    void sum(std::span<std::int64_t> values);
    void max(std::span<std::int64_t> values);
    // Returns once all ranks have called it. What they wrote before is visible.
    void barrier();

    // Sends parcels and returns one for each of `sources`, in this order. Between two ranks parcels keep their order; a rank may
    // send to itself, to nobody, or several times to one peer. Every parcel needs its entry in the destination's sources. Sends
    // and receives advance together, so that no order of calls and no size can block.
    std::vector<Parcel> exchange(std::span<const Parcel> parcels, std::span<const int> sources);

    // Between the two this rank is away, with an observer for instance. Meanwhile no wait of another rank comes to its deadline;
    // afterwards each has all of it again, as what this rank owes may be late by then. Each leave() has its enter().
    void leave();
    void enter();

    // Where this rank's program is, for the text of failures: WorldOptions::tag_name says what the number is of.
    void set_tag(std::int64_t tag);
    // This rank stops for a reason of its own: all waits of the others end with PeerAborted.
    void abort();

private:
    struct Peer // the channels of the collective operations
    {
        SendChannel send;
        ReceiveChannel receive;
    };

    template <class T, class Combine>
    void reduce(std::span<T> values, Combine&& combine);
    Peer& parcel_peer(int peer);

    World* world_;
    int rank_;
    std::vector<Peer> reduce_peers_;   // all other ranks in rank order
    std::map<int, Peer> parcel_peers_; // opened at first use
};

} // namespace parhelion
