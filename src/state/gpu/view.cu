// SPDX-License-Identifier: Apache-2.0
#include "state/gpu/view.cuh"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int threads = 256;

// Purpose        finds the present slots of home atoms given by global number
// Work           a thread per atom of the list
// Reads/Writes   global numbers, the map, zones / slots
// Orders         nothing; the order of the stream suffices
// Requires       slot_of_global of the present order
// Cost           13 bytes per atom of the list
__global__ void resolve_home_slots_kernel(BlockTrace tracing, const std::int32_t* slot_of_global,
                                          const std::uint8_t* zone_of_supercluster, const std::int32_t* atoms,
                                          std::int32_t* slots, std::size_t n)
{
    const BlockSpan span(tracing);

    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= n) { return; }
    const std::int32_t slot = slot_of_global[atoms[i]];
    slots[i] = slot >= 0 && zone_of_supercluster[slot / supercluster_size] == 0 ? slot : -1;
}

} // namespace

template <class N>
void resolve_home_slots(GpuQueue& queue, const GpuState<N>& state, const DeviceBuffer<std::int32_t>& atoms,
                        DeviceBuffer<std::int32_t>& slots)
{
    if (atoms.size() == 0) { return; }
    launch(queue, Phase::Reorder, resolve_home_slots_kernel, one_thread_each(atoms.size(), threads), state.slot_of_global.data(),
           state.zone_of_supercluster.data(), atoms.data(), slots.data(), atoms.size());
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void resolve_home_slots<N>(GpuQueue&, const GpuState<N>&, const DeviceBuffer<std::int32_t>&,                        \
                                        DeviceBuffer<std::int32_t>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
