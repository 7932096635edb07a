// SPDX-License-Identifier: Apache-2.0
// Sums, barriers and symmetric memory of a group of ranks: all ranks of a world, or some of them, each once, in any order. A rank
// may be in several groups, which know nothing of each other. Where two groups share more than one rank, these ranks must call
// both groups in the same order.
//
// Every member sends to every other and none relays, so this is for some thousand values at most. All members are for the rank's
// own thread. Cost: two slots of 4 KiB for each other member, in every member's arena.
#pragma once

#include "comm/channel.hpp"

#include <span>
#include <string>
#include <vector>

namespace parhelion {

// The channels between a rank and one other.
struct ChannelPair
{
    SendChannel send;
    ReceiveChannel receive;
};

class RankGroup
{
public:
    // Of `rank`, which is a member. All members make their groups of one label with the same members.
    RankGroup(World& world, int rank, std::vector<int> members, std::string label);

    int place() const { return place_; } // of this rank among the members, from 0
    const std::vector<int>& members() const { return members_; }

    // Element by element over all members, in the order of the group: every member gets the same bits. Collective: all members
    // call in one order.
    void sum(std::span<double> values);
    void sum(std::span<std::int64_t> values);
    void max(std::span<std::int64_t> values);
    // Returns once all members have called it. What they wrote before is visible.
    void barrier();

    // Symmetric memory, at the same offset for all members. Collective; each releases its own. Throws CommError if the arena of a
    // member is full.
    Window allocate(std::size_t bytes);
    void release(Window window);
    std::byte* data(Window window) const; // this rank's

protected:
    friend class Partitioned; // as much a part of the communicator's as groups are, in a header of its own
    World& world() const { return *world_; }
    int world_rank() const { return members_[static_cast<std::size_t>(place_)]; }

private:
    template <class T, class Combine>
    void reduce(std::span<T> values, Combine&& combine);

    World* world_;
    std::string label_;
    std::vector<int> members_; // by place
    int place_;
    std::vector<ChannelPair> peers_; // all other members by place
};

} // namespace parhelion
