// SPDX-License-Identifier: Apache-2.0
// reorder(): the cluster order of a rank that has all atoms (pairs/gpu/cluster_order_gpu.hpp).
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "pairs/gpu/cluster_order_gpu.hpp"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int threads = 256;

// Purpose        fills a lone rank's atom table
// Work           by a thread per slot
// Reads/Writes   per-slot data / the same data by global number
// Orders         no memory accesses; the order of the stream suffices
// Requires       all atoms on this rank
// Cost           14 bytes an atom, once
__global__ void __launch_bounds__(threads)
    fill_table_kernel(BlockTrace tracing, const std::int32_t* global_of_slot, const std::int32_t* lj_type,
                      const std::uint8_t* temperature_group, int slots, std::int32_t* lj_type_of_global,
                      std::uint8_t* temperature_group_of_global)
{
    const BlockSpan span(tracing);

    const int slot = blockIdx.x * threads + threadIdx.x;
    if (slot >= slots || global_of_slot[slot] < 0) { return; }
    lj_type_of_global[global_of_slot[slot]] = lj_type[slot];
    temperature_group_of_global[global_of_slot[slot]] = temperature_group[slot];
}

} // namespace

template <class N>
void reorder(GpuQueue& queue, GpuState<N>& state, ReorderScratch<N>& scratch)
{
    const std::size_t atoms = state.slot_of_global.size();
    scratch.x.resize(atoms), scratch.v.resize(atoms);
    const GpuExchangeBuffer<N> exchange_buffer{{}, scratch.x.data(), scratch.v.data()};
    if (scratch.exchange_buffers.size() == 0)
    {
        scratch.exchange_buffers.upload(queue, {&exchange_buffer, 1});
        scratch.table.lj_type.resize(atoms), scratch.table.temperature_group.resize(atoms);
        launch(queue, Phase::Reorder, fill_table_kernel, one_thread_each(state.slots, threads), state.global_of_slot.data(),
               state.lj_type.data(), state.temperature_group.data(), static_cast<int>(state.slots), scratch.table.lj_type.data(),
               scratch.table.temperature_group.data());
    }
    collect_atoms(queue, state, scratch.exchange_buffers);
    take_atoms(queue, exchange_buffer, scratch.table, scratch.take, state);
}

#define PARHELION_INSTANTIATE(N) template void reorder<N>(GpuQueue&, GpuState<N>&, ReorderScratch<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
