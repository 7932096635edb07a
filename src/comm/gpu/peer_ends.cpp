// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/peer_ends.hpp"

#include <algorithm>

namespace parhelion {

GpuPeerEnds::GpuPeerEnds(GpuWorld& world, std::span<const int> sources, std::span<const int> destinations,
                         const std::string& label, const Options& options)
{
    std::map<int, std::vector<GpuSender>> senders;
    std::map<int, std::vector<GpuReceiver>> receivers;
    for (std::size_t s = 0; s < sources.size(); ++s)
    {
        for (std::size_t d = 0; d < destinations.size(); ++d)
        {
            const int from = sources[s], to = destinations[d];
            senders[from].resize(destinations.size()), receivers[to].resize(sources.size());
            if (from == to) { continue; }
            const GpuChannel channel = world.open(label, from, to, options(from, to));
            senders[from][d] = channel.sender;
            receivers[to][s] = channel.receiver;
            slots_[{from, to}] = {channel.sender.route().payload, channel.receiver.route().payload};
        }
    }
    const auto add = [&](std::span<const int> group, std::span<const int> peers) {
        for (const int rank : group)
        {
            if (!world.is_here(rank)) { continue; }
            const auto place = std::find(peers.begin(), peers.end(), rank);
            GpuQueue& queue = world.setup_queue(rank);
            queue.make_current();
            Ends& ends = memory_[rank];
            ends.senders.upload(queue, senders[rank]);
            ends.receivers.upload(queue, receivers[rank]);
            queue.synchronize();
            ends_[rank] = {place == peers.end() ? -1 : static_cast<int>(place - peers.begin()), static_cast<int>(peers.size()),
                           world.watch(rank), ends.senders.data(), ends.receivers.data()};
        }
    };
    add(sources, destinations);
    if (!std::equal(sources.begin(), sources.end(), destinations.begin(), destinations.end())) { add(destinations, sources); }
}

} // namespace parhelion
