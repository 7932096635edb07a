// SPDX-License-Identifier: Apache-2.0
// Channels from every rank of a group to every other rank of it, or from all ranks of one group to all ranks of another group.
// They are for kernels that exchange data with all peers at once.
//
// Cost: two channels per pair of ranks, and 1 kB of device memory per rank for the ends of its channels.
#pragma once

#include "comm/gpu/world_gpu.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

// The ends of the channels between a member and its peers, indexed by the peer's place in the group. If the member is among the
// peers, its own entry is unused. Kernels take this struct as an argument, and only kernels write the ends.
struct GpuRankEnds
{
    int rank, ranks; // place of this member among its peers (-1 if it is not among them), and number of peers
    const Watch* watch;
    GpuSender* senders;
    GpuReceiver* receivers;
};

class GpuPeerEnds
{
public:
    // Makes channels among the ranks of `group`, each named once. options(source, destination) returns the options of the
    // channel between these ranks. Throws CommError if memory or signal slots are used up.
    using Options = std::function<ChannelOptions(int source, int destination)>;
    GpuPeerEnds(GpuWorld& world, std::span<const int> group, const std::string& label, const Options& options)
        : GpuPeerEnds(world, group, group, label, options)
    {
    }
    // Makes channels one way between two groups, which are the same or have no common member. A source then has only senders,
    // and a destination only receivers.
    GpuPeerEnds(GpuWorld& world, std::span<const int> sources, std::span<const int> destinations, const std::string& label,
                const Options& options);

    // Returns the channel ends of a member in this process.
    const GpuRankEnds& of(int rank) const { return ends_.at(rank); }
    // First slot of messages from one member to another. stored(): where source kernels store; arrived(): where data arrives.
    std::byte* stored(int source, int destination) const { return slots_.at({source, destination}).stored; }
    std::byte* arrived(int source, int destination) const { return slots_.at({source, destination}).arrived; }

private:
    struct Ends // ends of one member's channels, in device memory
    {
        DeviceBuffer<GpuSender> senders;
        DeviceBuffer<GpuReceiver> receivers;
    };

    std::map<int, Ends> memory_;      // memory of the members' ends, by rank
    std::map<int, GpuRankEnds> ends_; // the members' ends as kernel arguments, by rank
    struct FirstSlot                  // addresses of the first slot from one member to another, in a node
    {
        std::byte *stored, *arrived;
    };
    std::map<std::pair<int, int>, FirstSlot> slots_;
};

} // namespace parhelion
