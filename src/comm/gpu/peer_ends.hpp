// SPDX-License-Identifier: Apache-2.0
// Channels from every rank of a group to every other, or from all of one group to all of another, for kernels that exchange
// something with all at once.
//
// Cost: two channels a pair of ranks; a kilobyte of device memory for each rank's ends.
#pragma once

#include "comm/gpu/world_gpu.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

// A member's ends of channels to and from its peers, by their place in their group; its own are unused, if it is one of them. An
// argument of kernels, which alone write the ends.
struct GpuRankEnds
{
    int rank, ranks; // this member's place among its peers, -1 if it has none, and how many there are
    const Watch* watch;
    GpuSender* senders;
    GpuReceiver* receivers;
};

class GpuPeerEnds
{
public:
    // Among some ranks of the world, each named once. options(source, destination): of the channel between these ranks. Throws
    // CommError if there is no room.
    using Options = std::function<ChannelOptions(int source, int destination)>;
    GpuPeerEnds(GpuWorld& world, std::span<const int> group, const std::string& label, const Options& options)
        : GpuPeerEnds(world, group, group, label, options)
    {
    }
    // One way between two groups, which are the same or have nobody in common. A source has senders alone, a destination
    // receivers.
    GpuPeerEnds(GpuWorld& world, std::span<const int> sources, std::span<const int> destinations, const std::string& label,
                const Options& options);

    // Of a member that is here.
    const GpuRankEnds& of(int rank) const { return ends_.at(rank); }
    // The first slot of the messages from one member to another: where the source's kernels store them, and where they arrive.
    std::byte* stored(int source, int destination) const { return slots_.at({source, destination}).stored; }
    std::byte* arrived(int source, int destination) const { return slots_.at({source, destination}).arrived; }

private:
    struct Ends // of a member
    {
        DeviceBuffer<GpuSender> senders;
        DeviceBuffer<GpuReceiver> receivers;
    };

    std::map<int, Ends> memory_;      // by rank
    std::map<int, GpuRankEnds> ends_; // likewise
    struct FirstSlot                  // the same, within a node
    {
        std::byte *stored, *arrived;
    };
    std::map<std::pair<int, int>, FirstSlot> slots_;
};

} // namespace parhelion
