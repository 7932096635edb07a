// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/collectives.cuh"

namespace parhelion {

GpuCollective::GpuCollective(GpuWorld& world, std::span<const int> group, const std::string& label, std::size_t capacity,
                             Word first_epoch)
    : capacity_(capacity), world_(world), ends_(world, group, label, [&](int, int) {
          return ChannelOptions{2, Credits::No, capacity, first_epoch};
      })
{
}

// Makes a barrier by an all-reduce of no values.
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
