// SPDX-License-Identifier: Apache-2.0
// Channels from every rank of a group to every other, for kernels that exchange something with all at once.
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

// A member's ends of channels to and from all others, by their place in the group; its own are unused. An argument of kernels,
// which alone write the ends.
struct GpuRankEnds
{
    int rank, ranks; // this member's place, and how many there are
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
    GpuPeerEnds(GpuWorld& world, std::span<const int> group, const std::string& label, const Options& options);

    // Of a member that is here.
    const GpuRankEnds& of(int rank) const { return ends_.at(rank); }
    // Where the messages from one member to another arrive: the first slot.
    std::byte* slots(int source, int destination) const { return slots_.at({source, destination}); }

private:
    struct Ends
    {
        DeviceBuffer<GpuSender> senders;
        DeviceBuffer<GpuReceiver> receivers;
    };

    std::vector<Ends> memory_;
    std::map<int, GpuRankEnds> ends_; // by rank
    std::map<std::pair<int, int>, std::byte*> slots_;
};

} // namespace parhelion
