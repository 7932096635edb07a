// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu_collectives.cuh"

namespace parhelion {

GpuCollective::GpuCollective(GpuWorld& world, const std::string& label, std::size_t capacity, Word first_epoch)
    : capacity_(capacity), world_(world)
{
    const auto ranks = static_cast<std::size_t>(world.ranks());
    std::vector<std::vector<GpuSender>> senders(ranks, std::vector<GpuSender>(ranks));
    std::vector<std::vector<GpuReceiver>> receivers(ranks, std::vector<GpuReceiver>(ranks));
    for (std::size_t source = 0; source < ranks; ++source)
    {
        for (std::size_t destination = 0; destination < ranks; ++destination)
        {
            if (source == destination) { continue; }
            const GpuChannel channel = world.open(label, static_cast<int>(source), static_cast<int>(destination),
                                                  {2, Credits::No, capacity, first_epoch});
            senders[source][destination] = channel.sender;
            receivers[destination][source] = channel.receiver;
        }
    }
    for (std::size_t r = 0; r < ranks; ++r)
    {
        const int rank = static_cast<int>(r);
        GpuQueue& queue = world.setup_queue(rank);
        queue.make_current();
        Ends ends;
        ends.senders.upload(queue, senders[r]);
        ends.receivers.upload(queue, receivers[r]);
        queue.synchronize();
        ends_.push_back({rank, world.ranks(), world.watch(rank), ends.senders.data(), ends.receivers.data()});
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
