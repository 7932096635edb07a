// SPDX-License-Identifier: Apache-2.0
// Sums, barriers and symmetric memory of a group of ranks. A group has all ranks of a world or some of them, each once, in any
// order. A rank may be in several groups, which do not depend on each other. If two groups share more than one rank, these
// ranks must call the two groups in the same order.
//
// Every member sends to every other member directly, so sums are for some thousand values at most. Only the rank's own thread
// may call a group. Cost: two slots of 4 KiB for each other member, in every member's arena.
#pragma once

#include "comm/world/channel.hpp"

#include <span>
#include <string>
#include <vector>

namespace parhelion {

// The two channels between a rank and another rank.
struct ChannelPair
{
    SendChannel send;
    ReceiveChannel receive;
};

class RankGroup
{
public:
    // Makes the group for `rank`, which must be a member. All members must make the group, with the same label and members.
    RankGroup(World& world, int rank, std::vector<int> members, std::string label);

    int place() const { return place_; } // place of this rank among the members, from 0
    const std::vector<int>& members() const { return members_; }

    // Reduce each element over all members, in the order of the group, so that every member gets the same bits. These calls are
    // collective: all members make them in the same order.
    void sum(std::span<double> values);
    void sum(std::span<std::int64_t> values);
    void max(std::span<std::int64_t> values);
    // Returns once all members have called it. Everything that the members wrote before their calls is then visible.
    void barrier();

    // Allocates symmetric memory at the same offset for all members. All members call allocate(), and each member releases its
    // own part. Throws CommError if the arena of a member is full.
    Window allocate(std::size_t bytes);
    void release(Window window);
    std::byte* data(Window window) const; // returns the address of the window in this rank's arena

    // For parts of src/comm that are built on a communicator.
    World& world() const { return *world_; }

protected:
    int world_rank() const { return members_[static_cast<std::size_t>(place_)]; }

private:
    template <class T, class Combine>
    void reduce(std::span<T> values, Combine&& combine);

    World* world_;
    std::string label_;
    std::vector<int> members_; // world ranks of the members, by place
    int place_;
    std::vector<ChannelPair> peers_; // channels to the members, by place; this rank's entry is unused
};

} // namespace parhelion
