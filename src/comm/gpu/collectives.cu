// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/collectives.cuh"

namespace parhelion {

GpuCollective::GpuCollective(GpuWorld& world, std::span<const int> group, const std::string& label, std::size_t capacity,
                             Word first_epoch)
    : capacity_(capacity), world_(world)
{
    const std::size_t members = group.size();
    std::vector<std::vector<GpuSender>> senders(members, std::vector<GpuSender>(members));
    std::vector<std::vector<GpuReceiver>> receivers(members, std::vector<GpuReceiver>(members));
    for (std::size_t source = 0; source < members; ++source)
    {
        for (std::size_t destination = 0; destination < members; ++destination)
        {
            if (source == destination) { continue; }
            const GpuChannel channel =
                world.open(label, group[source], group[destination], {2, Credits::No, capacity, first_epoch});
            senders[source][destination] = channel.sender;
            receivers[destination][source] = channel.receiver;
        }
    }
    for (std::size_t m = 0; m < members; ++m)
    {
        const int rank = group[m];
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

// A barrier is a sum of nothing.
void barrier(GpuQueue& queue, const GpuCollective& collective, int rank)
{
    all_reduce<std::uint32_t>(queue, collective, rank, nullptr, 0);
}
void barrier_arrive(GpuQueue& queue, const GpuCollective& collective, int rank)
{
    all_reduce_send<std::uint32_t>(queue, collective, rank, nullptr, 0);
}
void barrier_wait(GpuQueue& queue, const GpuCollective& collective, int rank)
{
    all_reduce_receive<std::uint32_t>(queue, collective, rank, nullptr, 0);
}

#define PARHELION_INSTANTIATE(T)                                                                                                 \
    template void all_reduce<T>(GpuQueue&, const GpuCollective&, int, T*, int);                                                  \
    template void all_reduce_send<T>(GpuQueue&, const GpuCollective&, int, const T*, int);                                       \
    template void all_reduce_receive<T>(GpuQueue&, const GpuCollective&, int, T*, int);
PARHELION_INSTANTIATE(double)
PARHELION_INSTANTIATE(std::int64_t)
PARHELION_INSTANTIATE(std::uint32_t)

} // namespace parhelion
