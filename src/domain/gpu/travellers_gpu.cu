// SPDX-License-Identifier: Apache-2.0
#include "domain/gpu/travellers_gpu.hpp"

#include "comm/gpu/block.cuh"
#include "device/gpu/atomics.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "state/gpu/home_atoms.cuh"
#include "state/gpu/zones.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <vector>

namespace parhelion {

namespace {

using namespace gpu_zones;

constexpr int threads = 256;
constexpr int unpacking_blocks = 16; // blocks per message

// An atom as it is sent. Only its new owner uses the velocity.
template <class N>
struct Traveller
{
    PositionCharge<N> x;
    VelocityMass<N> v;
    std::int32_t global;
    std::int32_t zone; // zone on the destination; GpuExchangeBuffer::not_here if it only collects the atom
};
template <class N>
struct TravellingForce
{
    Vec3<typename N::ForceSum> f;
    std::int32_t global;
};

// A rank on another node.
struct FarRank
{
    GpuCell cell;
    int place;              // index in the channel ends
    bool collects;          // true if the rank collects the atoms of all ranks
    std::int32_t packed;    // number of atoms packed for this rank; 0 between two messages
    BlockCounter unpacking; // counts blocks that unpack the message from this rank
};

struct TravellerArgs
{
    GpuRankEnds ends;
    FarRank* far;
    int count;             // number of ranks on other nodes
    BlockCounter* packing; // counts the blocks that pack messages to any of these ranks
};

// Sends the packed items, of `item_bytes` each. All blocks of a packing kernel call this,
// and the last block to do so sends. Every such kernel has the same number of blocks.
__device__ void send_packed(const TravellerArgs& a, std::size_t item_bytes)
{
    if (!is_last_block(*a.packing, gridDim.x)) { return; }
    for (int k = 0; k < a.count; ++k)
    {
        FarRank& far = a.far[k];
        a.ends.senders[far.place].publish(static_cast<std::size_t>(far.packed) * item_bytes);
        far.packed = 0;
    }
}

// Waits for the message from one rank on another node, and calls take() for each item in it. All blocks of a row call this.
template <class Item, class Take>
__device__ void take_all(const TravellerArgs& a, Take&& take)
{
    FarRank& far = a.far[blockIdx.y];
    GpuReceiver& receiver = a.ends.receivers[far.place];
    if (block_wait_arrived(receiver, *a.ends.watch))
    {
        const auto* const message = reinterpret_cast<const Item*>(receiver.slot());
        const auto count = static_cast<std::int32_t>(receiver.bytes() / sizeof(Item));
        for (std::int32_t i = static_cast<std::int32_t>(blockIdx.x) * threads + threadIdx.x; i < count;
             i += unpacking_blocks * threads)
        {
            take(message[i]);
        }
    }
    if (is_last_block(far.unpacking, gridDim.x)) { receiver.take(); }
}

// Purpose        packs home atoms into messages to the ranks on other nodes that need or collect them
// Work           a thread per atom of the system; the last block sends
// Reads/Writes   positions, velocities, slots, reference atoms / messages, numbers of packed atoms (atomically, then 0)
// Orders         the last block signals with release
// Requires       the previous messages are unpacked
// Cost           4 bytes per atom of the system; per atom sent 36 read, and 40 written for each rank that needs it
template <class N>
__global__ void __launch_bounds__(threads)
    pack_kernel(BlockTrace tracing, TravellerArgs a, HomeAtoms<N> home, const std::int32_t* reference, bool to_collectors)
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
            const int collected = far.collects ? GpuExchangeBuffer<N>::not_here : -1;
            const int zone = to_collectors ? collected : zone_of(far.cell, nm_per_unit, of_reference, here);
            if (zone < 0) { continue; }
            auto* const message = reinterpret_cast<Traveller<N>*>(a.ends.senders[far.place].slot());
            message[atomic_add(&far.packed, 1)] = {position, home.v[slot], static_cast<std::int32_t>(global), zone};
        }
    }
    send_packed(a, sizeof(Traveller<N>));
}

// Purpose        writes atoms of messages from other nodes to this rank's exchange buffer
// Work           some blocks for each message (y); a thread per atom
// Reads/Writes   messages / exchange buffer
// Orders         waits for each message with acquire
// Requires       all ranks that share this GPU have queued their sends
// Cost           40 bytes read per atom; 33 written for a home atom, 17 for any other atom
template <class N>
__global__ void __launch_bounds__(threads)
    unpack_kernel(BlockTrace tracing, TravellerArgs a, GpuExchangeBuffer<N> exchange_buffer)
{
    const BlockSpan span(tracing);

    take_all<Traveller<N>>(a, [&](const Traveller<N>& atom) {
        exchange_buffer.x[atom.global] = atom.x;
        const bool is_collected = atom.zone == GpuExchangeBuffer<N>::not_here;
        exchange_buffer.zone[atom.global] = static_cast<std::uint8_t>(atom.zone);
        if (is_collected || atom.zone == 0) { exchange_buffer.v[atom.global] = atom.v; }
    });
}

// Purpose        packs forces on home atoms into the message to rank 0, if rank 0 is on another node
// Work           a thread per atom of the system; the last block sends
// Reads/Writes   forces, slots / messages, numbers of packed forces (atomically, then 0)
// Orders         the last block signals with release
// Requires       the previous messages are unpacked; forces are complete
// Cost           4 bytes per atom of the system; per force sent 32 read and 32 written
template <class N>
__global__ void __launch_bounds__(threads)
    pack_forces_kernel(BlockTrace tracing, TravellerArgs a, HomeAtoms<N> home, const ForceSlot<N>* f)
{
    const BlockSpan span(tracing);

    const std::int64_t global = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    const std::int32_t slot = home.slot_of(global);
    FarRank& first = a.far[0]; // rank 0, if it is on another node
    if (first.place == 0 && slot >= 0 && home.is_home(slot))
    {
        auto* const message = reinterpret_cast<TravellingForce<N>*>(a.ends.senders[first.place].slot());
        const ForceSlot<N> sum = f[slot];
        message[atomic_add(&first.packed, 1)] = {{sum.x, sum.y, sum.z}, static_cast<std::int32_t>(global)};
    }
    send_packed(a, sizeof(TravellingForce<N>));
}

// Purpose        writes received forces to the array by global atom
// Work           some blocks for each message (y); a thread per force
// Reads/Writes   messages / forces by global atom
// Orders         waits for each message with acquire
// Requires       all ranks that share this GPU have queued their sends
// Cost           56 bytes a force
template <class N>
__global__ void __launch_bounds__(threads)
    unpack_forces_kernel(BlockTrace tracing, TravellerArgs a, Vec3<typename N::ForceSum>* f)
{
    const BlockSpan span(tracing);
    take_all<TravellingForce<N>>(a, [&](const TravellingForce<N>& force) { f[force.global] = force.f; });
}

} // namespace

template <class N>
struct GpuTravellers<N>::Memory
{
    DeviceBuffer<FarRank> far;
    DeviceBuffer<BlockCounter> packing{1};
    TravellerArgs args;

    LaunchShape unpacking() const
    {
        LaunchShape shape{unpacking_blocks, threads};
        shape.blocks_y = args.count;
        return shape;
    }
};

template <class N>
GpuPeerEnds open_travellers(GpuWorld& world, std::span<const int> ranks, std::size_t atoms)
{
    // The channels have no credits: docs/design/communication.md says why; model mesh_exchange.pml.
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
                                std::span<const int> collectors, const GpuRankEnds& ends)
    : memory_(std::make_unique<Memory>())
{
    static_assert(sizeof(TravellingForce<N>) <= sizeof(Traveller<N>), "a slot has room for the forces on all atoms");
    std::vector<FarRank> far;
    for (std::size_t place = 0; place < cells.size(); ++place)
    {
        const int peer = static_cast<int>(place);
        const bool collects = std::find(collectors.begin(), collectors.end(), peer) != collectors.end();
        if (!world.reaches(rank, peer)) { far.push_back({cells[place], peer, collects, 0, {}}); }
    }
    memory_->far.upload(queue, far);
    memory_->packing.clear(queue);
    queue.synchronize(); // waits until the host's table is copied
    memory_->args = {ends, memory_->far.data(), static_cast<int>(far.size()), memory_->packing.data()};
}

template <class N>
GpuTravellers<N>::~GpuTravellers() = default;

template <class N>
void GpuTravellers<N>::send(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table, To to)
{
    launch(queue, Phase::Migrate, pack_kernel<N>, one_thread_each(state.slot_of_global.size(), threads), memory_->args,
           HomeAtoms<N>(state), table.reference.data(), to == To::Collectors);
}

template <class N>
void GpuTravellers<N>::receive(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer)
{
    launch(queue, Phase::Migrate, unpack_kernel<N>, memory_->unpacking(), memory_->args, exchange_buffer);
}

template <class N>
void GpuTravellers<N>::send_forces(GpuQueue& queue, const GpuState<N>& state)
{
    launch(queue, Phase::Output, pack_forces_kernel<N>, one_thread_each(state.slot_of_global.size(), threads), memory_->args,
           HomeAtoms<N>(state), state.f.data());
}

template <class N>
void GpuTravellers<N>::receive_forces(GpuQueue& queue, Force* f)
{
    launch(queue, Phase::Output, unpack_forces_kernel<N>, memory_->unpacking(), memory_->args, f);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template GpuPeerEnds open_travellers<N>(GpuWorld&, std::span<const int>, std::size_t);                                       \
    template std::size_t traveller_bytes<N>(int, std::size_t);                                                                   \
    template class GpuTravellers<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
