// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/peer_ends.hpp"

namespace parhelion {

GpuPeerEnds::GpuPeerEnds(GpuWorld& world, std::span<const int> group, const std::string& label, const Options& options)
{
    const std::size_t members = group.size();
    std::vector<std::vector<GpuSender>> senders(members, std::vector<GpuSender>(members));
    std::vector<std::vector<GpuReceiver>> receivers(members, std::vector<GpuReceiver>(members));
    for (std::size_t source = 0; source < members; ++source)
    {
        for (std::size_t destination = 0; destination < members; ++destination)
        {
            if (source == destination) { continue; }
            const int from = group[source], to = group[destination];
            const GpuChannel channel = world.open(label, from, to, options(from, to));
            senders[source][destination] = channel.sender;
            receivers[destination][source] = channel.receiver;
            slots_[{from, to}] = channel.receiver.route().payload;
        }
    }
    for (std::size_t m = 0; m < members; ++m)
    {
        const int rank = group[m];
        if (!world.is_here(rank)) { continue; }
        GpuQueue& queue = world.setup_queue(rank);
        queue.make_current();
        Ends ends;
        ends.senders.upload(queue, senders[m]);
        ends.receivers.upload(queue, receivers[m]);
        queue.synchronize();
        ends_[rank] = {static_cast<int>(m), static_cast<int>(members), world.watch(rank), ends.senders.data(),
                       ends.receivers.data()};
        memory_.push_back(std::move(ends));
    }
}

} // namespace parhelion
