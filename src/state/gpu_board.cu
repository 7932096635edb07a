// SPDX-License-Identifier: Apache-2.0
#include "state/gpu_board.hpp"

#include "base/error.hpp"
#include "device/block_trace.cuh"
#include "device/launch.cuh"

namespace parhelion {

namespace {

constexpr int threads = 256;

// Purpose        home atoms to the boards of all ranks
// Work           a thread per slot, a store per board and array
// Reads/Writes   positions, velocities, global numbers / boards
// Orders         nothing: readers on other GPUs need a barrier behind the kernel
// Requires       nobody reads the boards until that barrier
// Cost           37 bytes read an atom, 32 written to every board
template <class N>
__global__ void __launch_bounds__(threads)
    publish_kernel(BlockTrace tracing, const PositionCharge<N>* xq, const VelocityMass<N>* v, const std::int32_t* global_of_slot,
                   const std::uint8_t* zone_of_supercluster, const DeviceScalars* scalars, std::int64_t slots,
                   const GpuBoard<N>* boards, int board_count)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (slot >= slots || scalars->flags != 0) { return; }
    const std::int32_t global = global_of_slot[slot];
    if (global < 0 || zone_of_supercluster[slot / supercluster_size] != 0) { return; }
    const PositionCharge<N> position = xq[slot];
    const VelocityMass<N> velocity = v[slot];
    for (int b = 0; b < board_count; ++b)
    {
        const GpuBoard<N> board = boards[b];
        board.x[global] = position;
        board.v[global] = velocity;
    }
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
void fill_board(GpuQueue& queue, const ParticleState<N>& whole, const GpuBoard<N>& board)
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
    gpu_memory::to_device(queue, board.x, positions.data(), atoms * sizeof(PositionCharge<N>));
    gpu_memory::to_device(queue, board.v, velocities.data(), atoms * sizeof(VelocityMass<N>));
    queue.synchronize();
}

template <class N>
void publish_atoms(GpuQueue& queue, const GpuState<N>& state, const DeviceBuffer<GpuBoard<N>>& boards)
{
    launch(queue, Phase::Migrate, publish_kernel<N>, one_thread_each(state.slots, threads), state.xq.data(), state.v.data(),
           state.global_of_slot.data(), state.zone_of_supercluster.data(), state.scalars.data(),
           static_cast<std::int64_t>(state.slots), boards.data(), static_cast<int>(boards.size()));
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template GpuAtomTable make_atom_table<N>(GpuQueue&, const ParticleState<N>&, const Topology&, const UpdateGroups&);          \
    template void fill_board<N>(GpuQueue&, const ParticleState<N>&, const GpuBoard<N>&);                                         \
    template void publish_atoms<N>(GpuQueue&, const GpuState<N>&, const DeviceBuffer<GpuBoard<N>>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
