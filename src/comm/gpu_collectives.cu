// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu_collectives.cuh"

#include "device/block_trace.cuh"
#include "device/launch.cuh"

namespace parhelion {

namespace {

constexpr int threads = 256;
static_assert(threads >= GpuWorld::most_ranks);

// Purpose        send this rank's values to all others
// Work           one block; a thread per value, then a thread per peer
// Reads/Writes   values / slots of all peers
// Orders         block barrier, then release at system scope to each peer
// Requires       nothing of the epoch before last unread at a peer: every peer has received from this rank since
// Cost           n (ranks - 1) stores across the links, one release a peer
template <class T>
__global__ void send_kernel(BlockTrace tracing, GpuRankEnds ends, const T* values, int n)
{
    const BlockSpan span(tracing);

    send_to_all(ends, values, n);
}

// Purpose        combine the values of all ranks, in rank order
// Work           one block; a thread per peer waits, then a thread per value
// Reads/Writes   own slots, values / values
// Orders         acquire at system scope from each peer, then block barrier
// Requires       the sends of all ranks, running or queued where they need not wait for this
// Cost           the way of the last signal, n ranks loads
template <class T>
__global__ void receive_kernel(BlockTrace tracing, GpuRankEnds ends, T* values, int n)
{
    const BlockSpan span(tracing);

    receive_from_all(ends, values, n);
}

// Purpose        both of them
// Work           one block
// Reads/Writes   as above
// Orders         as above
// Requires       that all ranks' kernels run at the same time: a GPU each
// Cost           one launch, one way of a signal
template <class T>
__global__ void send_receive_kernel(BlockTrace tracing, GpuRankEnds ends, T* values, int n)
{
    const BlockSpan span(tracing);

    send_to_all(ends, values, n);
    receive_from_all(ends, values, n);
}

template <class Kernel, class Values>
void launch_for(GpuQueue& queue, const GpuCollective& collective, int rank, Kernel kernel, Values* values, int n)
{
    const GpuRankEnds& ends = collective.ends(rank);
    PARHELION_EXPECTS(static_cast<std::size_t>(n) * sizeof(Values) <= collective.capacity());
    if (ends.ranks > 1) { launch(queue, Phase::Reduce, kernel, {1, threads}, ends, values, n); }
}

} // namespace

GpuCollective::GpuCollective(GpuWorld& world, const ChannelLabel& label, std::size_t capacity, Word first_epoch)
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

template <class T>
void all_reduce(GpuQueue& queue, const GpuCollective& collective, int rank, T* values, int n)
{
    PARHELION_EXPECTS(!collective.world().shares_gpu(rank));
    launch_for(queue, collective, rank, send_receive_kernel<T>, values, n);
}
template <class T>
void all_reduce_send(GpuQueue& queue, const GpuCollective& collective, int rank, const T* values, int n)
{
    launch_for(queue, collective, rank, send_kernel<T>, values, n);
}
template <class T>
void all_reduce_receive(GpuQueue& queue, const GpuCollective& collective, int rank, T* values, int n)
{
    launch_for(queue, collective, rank, receive_kernel<T>, values, n);
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
PARHELION_INSTANTIATE(FlagsAndBalance)

} // namespace parhelion
