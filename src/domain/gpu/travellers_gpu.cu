// SPDX-License-Identifier: Apache-2.0
#include "domain/gpu/travellers_gpu.hpp"

#include "comm/gpu/block.cuh"
#include "device/gpu/atomics.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "state/gpu/home_atoms.cuh"
#include "state/gpu/zones.cuh"
#include "trace/phases.hpp"

#include <vector>

namespace parhelion {

namespace {

using namespace gpu_zones;

constexpr int threads = 256;
constexpr int unpacking_blocks = 16; // of a message

// As it travels. The velocity is only looked at by its new owner.
template <class N>
struct Traveller
{
    PositionCharge<N> x;
    VelocityMass<N> v;
    std::int32_t global;
    std::int32_t zone; // at the destination
};

// A rank on another node.
struct FarRank
{
    GpuCell cell;
    int place;              // among the ends
    std::int32_t packed;    // atoms for it; 0 between two messages
    BlockCounter unpacking; // of the message from it
};

struct TravellerArgs
{
    GpuRankEnds ends;
    FarRank* far;
    int count;             // of far ranks
    BlockCounter* packing; // of the messages for all of them
};

// Purpose        home atoms to the messages for those ranks on other nodes that need them
// Work           a thread per atom of the system; the last block sends
// Reads/Writes   positions, velocities, slots, reference atoms / messages, how much is in them (atomically, then 0)
// Orders         the last block signals with release
// Requires       the last messages unpacked
// Cost           4 bytes an atom of the system; of one that is sent 36 read and 40 written for each rank that needs it
template <class N>
__global__ void __launch_bounds__(threads)
    pack_kernel(BlockTrace tracing, TravellerArgs a, HomeAtoms<N> home, const std::int32_t* reference)
{
    const BlockSpan span(tracing);

    const std::int64_t global = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    const std::int32_t slot = home.slot_of(global);
    if (slot >= 0 && home.is_home(slot))
    {
        const PositionCharge<N> position = home.xq[slot];
        const Vec3<std::uint32_t> here = leading(position),
                                  of_reference = leading(home.xq[home.slot_of_global[reference[global]]]);
        const Vec3<double> nm_per_unit = leading_nm_per_unit<N>(*home.scalars);
        for (int k = 0; k < a.count; ++k)
        {
            FarRank& far = a.far[k];
            const int zone = zone_of(far.cell, nm_per_unit, of_reference, here);
            if (zone < 0) { continue; }
            auto* const message = reinterpret_cast<Traveller<N>*>(a.ends.senders[far.place].slot());
            message[atomic_add(&far.packed, 1)] = {position, home.v[slot], static_cast<std::int32_t>(global), zone};
        }
    }
    if (!is_last_block(*a.packing, gridDim.x)) { return; }
    for (int k = 0; k < a.count; ++k)
    {
        FarRank& far = a.far[k];
        a.ends.senders[far.place].publish(static_cast<std::size_t>(far.packed) * sizeof(Traveller<N>));
        far.packed = 0;
    }
}

// Purpose        atoms of the messages from other nodes to this rank's exchange buffer
// Work           some blocks for each message (y); a thread per atom
// Reads/Writes   messages / exchange buffer
// Orders         waits for each message with acquire
// Requires       sent by all ranks that share this GPU
// Cost           40 bytes an atom read, 33 written for one that is at home here, else 17
template <class N>
__global__ void __launch_bounds__(threads)
    unpack_kernel(BlockTrace tracing, TravellerArgs a, GpuExchangeBuffer<N> exchange_buffer)
{
    const BlockSpan span(tracing);

    FarRank& far = a.far[blockIdx.y];
    GpuReceiver& receiver = a.ends.receivers[far.place];
    if (block_wait_arrived(receiver, *a.ends.watch))
    {
        const auto* const message = reinterpret_cast<const Traveller<N>*>(receiver.slot());
        const auto count = static_cast<std::int32_t>(receiver.bytes() / sizeof(Traveller<N>));
        for (std::int32_t i = static_cast<std::int32_t>(blockIdx.x) * threads + threadIdx.x; i < count;
             i += unpacking_blocks * threads)
        {
            const Traveller<N> atom = message[i];
            exchange_buffer.x[atom.global] = atom.x;
            exchange_buffer.zone[atom.global] = static_cast<std::uint8_t>(atom.zone);
            if (atom.zone == 0) { exchange_buffer.v[atom.global] = atom.v; }
        }
    }
    if (is_last_block(far.unpacking, gridDim.x)) { receiver.take(); }
}

} // namespace

template <class N>
struct GpuTravellers<N>::Memory
{
    DeviceBuffer<FarRank> far;
    DeviceBuffer<BlockCounter> packing{1};
    TravellerArgs args;
};

template <class N>
GpuPeerEnds open_travellers(GpuWorld& world, std::span<const int> ranks, std::size_t atoms)
{
    // Without credits: docs/design/communication.md; model mesh_exchange.pml.
    return {world, ranks, "atoms", [&](int source, int destination) {
                const std::size_t bytes = world.reaches(source, destination) ? 0 : atoms * sizeof(Traveller<N>);
                return ChannelOptions{1, Credits::No, bytes};
            }};
}

template <class N>
std::size_t traveller_bytes(int ranks, std::size_t atoms)
{
    return 2 * static_cast<std::size_t>(ranks) * round_up_window(atoms * sizeof(Traveller<N>));
}

template <class N>
GpuTravellers<N>::GpuTravellers(GpuQueue& queue, const GpuWorld& world, int rank, std::span<const GpuCell> cells,
                                const GpuRankEnds& ends)
    : memory_(std::make_unique<Memory>())
{
    std::vector<FarRank> far;
    for (std::size_t place = 0; place < cells.size(); ++place)
    {
        const int peer = static_cast<int>(place);
        if (!world.reaches(rank, peer)) { far.push_back({cells[place], peer, 0, {}}); }
    }
    memory_->far.upload(queue, far);
    memory_->packing.clear(queue);
    queue.synchronize(); // the host's table goes
    memory_->args = {ends, memory_->far.data(), static_cast<int>(far.size()), memory_->packing.data()};
}

template <class N>
GpuTravellers<N>::~GpuTravellers() = default;

template <class N>
void GpuTravellers<N>::send(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table)
{
    launch(queue, Phase::Migrate, pack_kernel<N>, one_thread_each(state.slot_of_global.size(), threads), memory_->args,
           HomeAtoms<N>(state), table.reference.data());
}

template <class N>
void GpuTravellers<N>::receive(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer)
{
    LaunchShape shape{unpacking_blocks, threads};
    shape.blocks_y = memory_->args.count;
    launch(queue, Phase::Migrate, unpack_kernel<N>, shape, memory_->args, exchange_buffer);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template GpuPeerEnds open_travellers<N>(GpuWorld&, std::span<const int>, std::size_t);                                       \
    template std::size_t traveller_bytes<N>(int, std::size_t);                                                                   \
    template class GpuTravellers<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
