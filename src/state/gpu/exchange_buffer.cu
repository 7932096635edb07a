// SPDX-License-Identifier: Apache-2.0
#include "state/gpu/exchange_buffer.hpp"

#include "base/error.hpp"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "state/gpu/home_atoms.cuh"
#include "state/gpu/zones.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

using namespace gpu_zones;

constexpr int threads = 256;

__device__ std::int64_t my_global() { return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; }

// Purpose        writes home atoms to the exchange buffers of the ranks that need them
// Work           a thread per atom of the system, so that stores of neighbours in a warp become one transfer of the link
// Reads/Writes   positions, velocities, slots, reference atoms / exchange buffers
// Orders         nothing: readers on other GPUs need a barrier behind the kernel
// Requires       no kernel reads the exchange buffers until that barrier
// Cost           4 bytes per atom of the system; per home atom 40 read,
//                33 written to its owner's exchange buffer,
//                17 written to each other exchange buffer whose rank needs it
template <class N>
__global__ void __launch_bounds__(threads) publish_kernel(BlockTrace tracing, HomeAtoms<N> home, const std::int32_t* reference,
                                                          const GpuExchangeBuffer<N>* exchange_buffers, int buffer_count)
{
    const BlockSpan span(tracing);

    const std::int64_t global = my_global();
    const std::int32_t slot = home.slot_of(global);
    if (slot < 0) { return; }
    // All loads are in flight before the first result is used.
    const std::int32_t reference_slot = home.slot_of_global[reference[global]];
    const PositionCharge<N> position = home.xq[slot];
    const VelocityMass<N> velocity = home.v[slot];
    if (!home.is_home(slot)) { return; }
    const Vec3<std::uint32_t> here = leading(position), of_reference = leading(home.xq[reference_slot]);
    const Vec3<double> nm_per_unit = leading_nm_per_unit<N>(*home.scalars);
    for (int b = 0; b < buffer_count; ++b)
    {
        const GpuExchangeBuffer<N>& exchange_buffer = exchange_buffers[b];
        const int zone = zone_of(exchange_buffer.cell, nm_per_unit, of_reference, here);
        if (zone < 0) { continue; }
        exchange_buffer.x[global] = position;
        exchange_buffer.zone[global] = static_cast<std::uint8_t>(zone);
        if (zone == 0) { exchange_buffer.v[global] = velocity; }
    }
}

// Purpose        writes all home atoms to the exchange buffers of the collectors
// Work           a thread per atom of the system, so that stores of neighbours in a warp become one transfer of the link
// Reads/Writes   positions, velocities, slots / the exchange buffers, except their zones
// Orders         nothing: readers on another GPU need a barrier behind the kernel
// Requires       no kernel reads these exchange buffers until that barrier
// Cost           4 bytes per atom of the system; per home atom 32 read, and 32 written for each collector
template <class N>
__global__ void __launch_bounds__(threads)
    collect_kernel(BlockTrace tracing, HomeAtoms<N> home, const GpuExchangeBuffer<N>* collectors, int count)
{
    const BlockSpan span(tracing);

    const std::int64_t global = my_global();
    const std::int32_t slot = home.slot_of(global);
    if (slot < 0) { return; }
    const PositionCharge<N> position = home.xq[slot];
    const VelocityMass<N> velocity = home.v[slot];
    if (!home.is_home(slot)) { return; }
    for (int c = 0; c < count; ++c)
    {
        collectors[c].x[global] = position;
        collectors[c].v[global] = velocity;
    }
}

// Purpose        marks those atoms of a complete exchange buffer that its rank needs
// Work           a thread per atom of the system
// Reads/Writes   positions in the exchange buffer, reference atoms / zones in the exchange buffer
// Orders         nothing; the order of the stream suffices
// Requires       the box of these positions
// Cost           37 bytes per atom of the system, at a start or a restart only
template <class N>
__global__ void __launch_bounds__(threads)
    find_zones_kernel(BlockTrace tracing, GpuExchangeBuffer<N> exchange_buffer, const std::int32_t* reference,
                      const DeviceScalars* scalars, std::int64_t globals)
{
    const BlockSpan span(tracing);

    const std::int64_t global = my_global();
    if (global >= globals) { return; }
    const int zone = zone_of(exchange_buffer.cell, leading_nm_per_unit<N>(*scalars),
                             leading(exchange_buffer.x[reference[global]]), leading(exchange_buffer.x[global]));
    exchange_buffer.zone[global] = zone < 0 ? GpuExchangeBuffer<N>::not_here : static_cast<std::uint8_t>(zone);
}

template <class N>
std::size_t slot_of(const ParticleState<N>& whole, std::size_t global)
{
    PARHELION_EXPECTS(whole.is_home(whole.slot_of_global[global]));
    return static_cast<std::size_t>(whole.slot_of_global[global]);
}

} // namespace

template <class N>
GpuAtomTable make_atom_table(GpuQueue& queue, const ParticleState<N>& whole, const Topology& topology, const UpdateGroups& groups)
{
    const std::size_t atoms = whole.slot_of_global.size();
    std::vector<std::int32_t> lj_type(atoms), reference(atoms);
    std::vector<std::uint8_t> temperature_group(atoms);
    for (std::size_t g = 0; g < atoms; ++g)
    {
        lj_type[g] = whole.lj_type[slot_of(whole, g)];
        temperature_group[g] = whole.temperature_group[slot_of(whole, g)];
    }
    std::size_t g = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const std::vector<std::int32_t>& of_atom = groups.molecule_types[static_cast<std::size_t>(block.type)].reference_of_atom;
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const auto first = static_cast<std::int32_t>(g);
            for (const std::int32_t local : of_atom) { reference[g++] = first + local; }
        }
    }
    GpuAtomTable table;
    table.lj_type.upload(queue, lj_type), table.temperature_group.upload(queue, temperature_group);
    table.reference.upload(queue, reference);
    queue.synchronize();
    return table;
}

template <class N>
void fill_exchange_buffer(GpuQueue& queue, const ParticleState<N>& whole, const GpuExchangeBuffer<N>& exchange_buffer)
{
    const std::size_t atoms = whole.slot_of_global.size();
    std::vector<PositionCharge<N>> positions(atoms);
    std::vector<VelocityMass<N>> velocities(atoms);
    for (std::size_t g = 0; g < atoms; ++g)
    {
        const std::size_t slot = slot_of(whole, g);
        const auto x = whole.x.get(slot);
        const auto v = whole.v.get(slot);
        positions[g] = {x.x, x.y, x.z, whole.charge[slot]};
        velocities[g] = {v.x, v.y, v.z, whole.inverse_mass[slot]};
    }
    gpu_memory::to_device(queue, exchange_buffer.x, positions.data(), atoms * sizeof(PositionCharge<N>));
    gpu_memory::to_device(queue, exchange_buffer.v, velocities.data(), atoms * sizeof(VelocityMass<N>));
    queue.synchronize();
}

template <class N>
void find_zones(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table, const GpuExchangeBuffer<N>& exchange_buffer)
{
    if (exchange_buffer.cell.is_everything()) { return; }
    const std::size_t globals = state.slot_of_global.size();
    launch(queue, Phase::Migrate, find_zones_kernel<N>, one_thread_each(globals, threads), exchange_buffer,
           table.reference.data(), state.scalars.data(), static_cast<std::int64_t>(globals));
}

template <class N>
void publish_atoms(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table,
                   const DeviceBuffer<GpuExchangeBuffer<N>>& exchange_buffers)
{
    const HomeAtoms<N> home(state);
    launch(queue, Phase::Migrate, publish_kernel<N>, one_thread_each(state.slot_of_global.size(), threads), home,
           table.reference.data(), exchange_buffers.data(), static_cast<int>(exchange_buffers.size()));
}

template <class N>
void collect_atoms(GpuQueue& queue, const GpuState<N>& state, const DeviceBuffer<GpuExchangeBuffer<N>>& collectors)
{
    const HomeAtoms<N> home(state);
    launch(queue, Phase::Migrate, collect_kernel<N>, one_thread_each(state.slot_of_global.size(), threads), home,
           collectors.data(), static_cast<int>(collectors.size()));
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template GpuAtomTable make_atom_table<N>(GpuQueue&, const ParticleState<N>&, const Topology&, const UpdateGroups&);          \
    template void fill_exchange_buffer<N>(GpuQueue&, const ParticleState<N>&, const GpuExchangeBuffer<N>&);                      \
    template void find_zones<N>(GpuQueue&, const GpuState<N>&, const GpuAtomTable&, const GpuExchangeBuffer<N>&);                \
    template void publish_atoms<N>(GpuQueue&, const GpuState<N>&, const GpuAtomTable&,                                           \
                                   const DeviceBuffer<GpuExchangeBuffer<N>>&);                                                   \
    template void collect_atoms<N>(GpuQueue&, const GpuState<N>&, const DeviceBuffer<GpuExchangeBuffer<N>>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
