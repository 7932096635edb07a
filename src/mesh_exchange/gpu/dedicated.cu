// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/dedicated.cuh"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "interactions/mesh/gpu/mesh_atoms_gpu.hpp"
#include "interactions/mesh/spline.hpp"
#include "mesh_exchange/gpu/peer_exchange.cuh"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

// Kernels have a block per supercluster and a thread per slot.
constexpr int threads = supercluster_size;
static_assert(threads >= GpuWorld::most_ranks);

__device__ bool reaches(const mesh::PlaneRange& range, std::int32_t plane, std::int32_t points, int order)
{
    const int from_first = range.from_first(plane, points);
    return range.count > 0 && (from_first < range.count || points - from_first < order);
}

// Purpose        sends superclusters of home atoms to the mesh ranks whose planes they reach
// Work           a block per possible supercluster of this rank, even if unused; a thread per slot
// Reads/Writes   positions, charges / inboxes, marks of left-out superclusters (on this rank as well)
// Orders         the last block signals all mesh ranks with release
// Requires       the forces on the previously sent atoms have come
// Cost           a load of 16 bytes per slot, a store and a vote per mesh rank
template <class N>
__global__ void __launch_bounds__(threads)
    send_atoms_kernel(BlockTrace tracing, GpuView<N> state, std::int32_t superclusters, std::int32_t points, int order,
                      const mesh::PlaneRange* planes, const VisitorSlots<N>* inboxes, std::uint8_t* left_out,
                      PeerExchange exchange)
{
    const BlockSpan span(tracing);

    const auto supercluster = static_cast<std::int32_t>(blockIdx.x), all = static_cast<std::int32_t>(gridDim.x);
    const std::int32_t slot = supercluster * supercluster_size + static_cast<std::int32_t>(threadIdx.x);
    PositionCharge<N> atom{};
    if (supercluster < superclusters && state.zone_of_supercluster[supercluster] == 0) { atom = state.xq[slot]; }
    const std::int32_t plane = mesh_place(atom.x, static_cast<std::uint32_t>(points)).point;
    for (int m = 0; m < exchange.ends.ranks; ++m)
    {
        const bool comes = __syncthreads_or(atom.charge != 0 && reaches(planes[m], plane, points, order)) != 0;
        if (comes) { inboxes[m].xq[slot] = atom; }
        if (threadIdx.x == 0) { left_out[m * all + supercluster] = inboxes[m].left_out[supercluster] = comes ? 0 : 1; }
    }
    exchange.end();
}

// Purpose        sends forces on visitors back to their particle ranks
// Work           a block per supercluster of all inboxes; a thread per slot
// Reads/Writes   forces (cleared), marks of left-out superclusters / answers
// Orders         the last block signals all particle ranks with release
// Requires       no kernel of this step reads the slots of visitors any more
// Cost           a load and two stores of 16 bytes per slot
template <class N>
__global__ void __launch_bounds__(threads)
    send_forces_kernel(BlockTrace tracing, ForceSlot<N>* f, const std::uint8_t* left_out, std::int32_t superclusters,
                       ForceSlot<N>* const* to, PeerExchange exchange)
{
    const BlockSpan span(tracing);

    const auto supercluster = static_cast<std::int32_t>(blockIdx.x), rank = supercluster / superclusters;
    const std::int32_t slot = supercluster * supercluster_size + static_cast<std::int32_t>(threadIdx.x);
    if (left_out[supercluster] == 0)
    {
        to[rank][slot - rank * superclusters * supercluster_size] = f[slot];
        f[slot] = {};
    }
    exchange.end();
}

// Purpose        adds forces that mesh ranks sent to the forces on home atoms
// Work           a block per supercluster; a thread per slot
// Reads/Writes   answers, marks of left-out superclusters / forces (atomic sums: other kernels add to them meanwhile)
// Orders         nothing; the order of the stream suffices
// Requires       all answers have come
// Cost           a load of 16 bytes per slot and mesh rank to which it was sent, and an update of one force
template <class N>
__global__ void __launch_bounds__(threads)
    add_forces_kernel(BlockTrace tracing, GpuView<N> state, const ForceSlot<N>* answers, const std::uint8_t* left_out,
                      std::int32_t superclusters, int mesh_ranks, int weight)
{
    const BlockSpan span(tracing);
    using Sum = typename N::ForceSum;

    const auto supercluster = static_cast<std::int32_t>(blockIdx.x);
    const std::int32_t slot = supercluster * supercluster_size + static_cast<std::int32_t>(threadIdx.x);
    Vec3<Sum> force{};
    bool has_come = false;
    for (int m = 0; m < mesh_ranks; ++m)
    {
        if (left_out[m * superclusters + supercluster] != 0) { continue; }
        const ForceSlot<N> f = answers[static_cast<std::int64_t>(m) * superclusters * supercluster_size + slot];
        force += Vec3<Sum>{f.x, f.y, f.z};
        has_come = true;
    }
    if (has_come) { state.add_force(slot, static_cast<Sum>(weight) * force); }
}

// The kernels of both classes that exchange messages.
enum Kernel : std::size_t
{
    sends,
    awaits,
    kernels
};

LaunchShape block_per_supercluster(std::size_t superclusters) { return {static_cast<int>(superclusters), threads}; }

} // namespace

// --- a particle rank

template <class N>
GpuMeshElsewhere<N>::GpuMeshElsewhere(GpuQueue& queue, const GpuMeshMemory& memory, int rank)
    : cut_(memory.setup.cut), visits_(*memory.visits), rank_(rank)
{
    queue.make_current();
    std::vector<VisitorSlots<N>> inboxes;
    const auto here = static_cast<std::size_t>(rank);
    for (int m = 0; m < visits_.mesh_ranks(); ++m)
    {
        inboxes.push_back({visits_.template xq<N>(m) + here * visits_.capacity,
                           visits_.template left_out<N>(m) + here * visits_.superclusters()});
    }
    inboxes_.upload(queue, inboxes);
    planes_.upload(queue, std::span(cut_.planes).subspan(static_cast<std::size_t>(cut_.first_mesh_rank)));
    left_out_.resize(inboxes.size() * visits_.superclusters()), done_.resize(kernels);
    done_.clear(queue);
    queue.synchronize(); // waits until the host's tables are copied
}

template <class N>
RankProgram GpuMeshElsewhere<N>::compute(GpuQueue& queue, GpuState<N>& state, Compute, MeshWeights weights)
{
    send(queue, state);
    co_await all_are_here;
    co_await all_are_here; // mesh ranks exchange spectra
    co_await all_are_here; // mesh ranks send spectra back to each other
    co_await all_are_here;
    await_peers(queue, visits_.forces.of(rank_), done_.data() + awaits);
    add_forces(queue, state, weights.first);
}

template <class N>
void GpuMeshElsewhere<N>::add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state)
{
    add_forces(queue, state, weights.rest);
}

template <class N>
void GpuMeshElsewhere<N>::send(GpuQueue& queue, GpuState<N>& state)
{
    PARHELION_EXPECTS(state.slots <= visits_.capacity);
    const GpuRankEnds& ends = visits_.atoms.of(rank_);
    launch(queue, Phase::MeshExchange, send_atoms_kernel<N>, block_per_supercluster(visits_.superclusters()), GpuView<N>(state),
           static_cast<std::int32_t>(state.superclusters()), cut_.points[0], cut_.order, planes_.data(), inboxes_.data(),
           left_out_.data(), PeerExchange{.ends = ends, .senders = ends.senders, .done = done_.data() + sends});
}

template <class N>
void GpuMeshElsewhere<N>::add_forces(GpuQueue& queue, GpuState<N>& state, int weight)
{
    launch(queue, Phase::MeshExchange, add_forces_kernel<N>, block_per_supercluster(state.superclusters()), GpuView<N>(state),
           visits_.template f<N>(rank_), left_out_.data(), static_cast<std::int32_t>(visits_.superclusters()),
           visits_.mesh_ranks(), weight);
}

// --- a mesh rank

template <class N>
GpuVisitorsMesh<N>::GpuVisitorsMesh(GpuQueue& queue, const GpuMeshMemory& memory, int rank)
    : parameters_(memory.setup.parameters), visits_(*memory.visits), rank_(rank), spectrum_(queue, memory, rank)
{
    const mesh::PlaneRange& own = memory.setup.cut.planes[static_cast<std::size_t>(rank)];
    const std::size_t points = static_cast<std::size_t>(own.count) * static_cast<std::size_t>(parameters_.points[1]) *
                               static_cast<std::size_t>(parameters_.points[2]);
    const auto visiting = static_cast<std::size_t>(visits_.particle_ranks());
    const int here = rank - memory.setup.cut.first_mesh_rank;
    queue.make_current();
    visitors_.slots = visiting * visits_.capacity;
    visitors_.xq = DeviceBuffer<PositionCharge<N>>(visits_.template xq<N>(here), visitors_.slots);
    visitors_.zone_of_supercluster =
        DeviceBuffer<std::uint8_t>(visits_.template left_out<N>(here), visitors_.superclusters()); // 0: the supercluster was sent
    visitors_.f.resize(visitors_.slots);
    charges_.resize(points), potentials_.resize(points), done_.resize(kernels);
    visitors_.f.clear(queue), charges_.clear(queue), done_.clear(queue);
    charge_planes_ = mesh_planes(queue, charges_.data(), parameters_.points, own);
    potential_planes_ = mesh_planes(queue, potentials_.data(), parameters_.points, own);
    std::vector<ForceSlot<N>*> to;
    for (int p = 0; p < visits_.particle_ranks(); ++p)
    {
        to.push_back(visits_.template f<N>(p) + static_cast<std::size_t>(here) * visits_.capacity);
    }
    for_.upload(queue, to);
    queue.synchronize(); // waits until the host's tables are copied
}

template <class N>
RankProgram GpuVisitorsMesh<N>::compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights)
{
    visitors_.scalars = DeviceBuffer<DeviceScalars>(state.scalars.data(), 1); // kernels read the box from these scalars
    visitors_.is_tilted = state.is_tilted;
    co_await all_are_here;
    await_peers(queue, visits_.atoms.of(rank_), done_.data() + awaits);
    spread_charges(queue, visitors_, parameters_, MeshAtomsOf::Home, charge_planes_.data());
    spectrum_.send(queue, charges_.data());
    co_await all_are_here;
    spectrum_.solve(queue, state, compute);
    co_await all_are_here;
    spectrum_.find_potentials(queue, potentials_.data());
    gather_forces(queue, visitors_, parameters_, MeshAtomsOf::Home, potential_planes_.data(), 1, spectrum_.begins_early());
    send_back(queue);
    co_await all_are_here; // ranks with atoms add the forces
}

template <class N>
void GpuVisitorsMesh<N>::send_back(GpuQueue& queue)
{
    const GpuRankEnds& ends = visits_.forces.of(rank_);
    launch(queue, Phase::MeshExchange, send_forces_kernel<N>, block_per_supercluster(visitors_.superclusters()),
           visitors_.f.data(), visitors_.zone_of_supercluster.data(), static_cast<std::int32_t>(visits_.superclusters()),
           for_.data(), PeerExchange{.ends = ends, .senders = ends.senders, .done = done_.data() + sends});
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template class GpuMeshElsewhere<N>;                                                                                          \
    template class GpuVisitorsMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
