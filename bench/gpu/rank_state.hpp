// SPDX-License-Identifier: Apache-2.0
// Holds what the benchmarks of a rank's kernels share: its atoms, in the order that kernels find them in.
#pragma once

#include "domain/gpu/grid_gpu.hpp"
#include "io/input/load.hpp"
#include "pairs/cluster_order.hpp"
#include "pairs/gpu/cluster_order_gpu.hpp"

namespace parhelion {

// Waits.
template <class N>
GpuState<N> make_rank_state(GpuQueue& queue, const LoadedInput& input, const UpdateGroups& groups, const GpuCell& cell)
{
    CpuQueue host(1);
    const ParticleState<N> whole = make_state<N>(input.system, {}, host);
    const std::size_t atoms = whole.slot_of_global.size();
    DeviceBuffer<PositionCharge<N>> x(atoms);
    DeviceBuffer<VelocityMass<N>> v(atoms);
    DeviceBuffer<std::uint8_t> zone(atoms);
    const GpuExchangeBuffer<N> exchange_buffer{cell, x.data(), v.data(), zone.data()};
    fill_exchange_buffer(queue, whole, exchange_buffer);
    const GpuAtomTable table = make_atom_table(queue, whole, input.system.topology, groups);
    GpuState<N> state;
    TakeScratch scratch;
    reserve_slots(queue, cell, input.system.box, atoms, 1.3, state);
    find_zones(queue, state, table, exchange_buffer);
    take_atoms(queue, exchange_buffer, table, scratch, state);
    queue.synchronize(); // before the exchange buffer goes
    return state;
}

} // namespace parhelion
