// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/patch.cuh"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "mesh_exchange/gpu/peer_exchange.cuh"
#include "trace/phases.hpp"

#include <algorithm>

namespace parhelion {

template <class N>
struct PatchArgs
{
    int rank;
    std::array<int, 3> points;     // size of the grid
    const mesh::PlaneRange* owned; // planes of each rank, indexed by rank
    mesh::ChargeSum<N>* patch;
    std::uint8_t* touched;

    __device__ std::int32_t rows_of(int owner) const { return owned[owner].count * points[1]; }
    // Returns the row of the patch that is row i of the owner's planes.
    __device__ std::int32_t row(int owner, std::int32_t i) const
    {
        const std::int32_t plane = i / points[1], y = i - plane * points[1];
        return owned[owner].plane(plane, points[0]) * points[1] + y;
    }
    __device__ ChargeMessage<mesh::ChargeSum<N>> message(std::byte* slot, int owner) const
    {
        return {slot, static_cast<std::size_t>(rows_of(owner))};
    }
};

namespace {

constexpr int threads = 128;
static_assert(threads >= GpuWorld::most_ranks);
constexpr int most_blocks = 64; // blocks per message

// Calls body(i) on all lanes of a warp for each i in [0, count) with is_marked(i),
// which one lane evaluates. In all calls in a kernel an i belongs to the same warp.
template <class IsMarked, class Body>
__device__ void for_marked(std::int32_t count, IsMarked&& is_marked, Body&& body)
{
    const auto warp = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32, stride = static_cast<int>(gridDim.x) * threads;
    for (std::int32_t first = warp * 32; first < count; first += stride)
    {
        const std::int32_t i = first + lane;
        std::uint32_t marked = lanes_where(i < count && is_marked(i));
        for (; marked != 0; marked &= marked - 1) { body(first + __ffs(static_cast<int>(marked)) - 1); }
    }
}

// Calls body(z) for all points z of a row. The points are divided among the lanes of a warp.
template <class Body>
__device__ void for_points(int nz, Body&& body)
{
    for (int z = static_cast<int>(threadIdx.x) % 32; z < nz; z += 32) { body(z); }
}

// Purpose        sends charges of touched rows to the owners of their planes
// Work           some blocks per owner (y); a warp per row
// Reads/Writes   the patch, marks / messages; patch and marks are cleared on planes of other owners
// Orders         the last block signals all owners with release
// Requires       the potentials of the previous charges are not read any more
// Cost           a load and a store per point of a touched row, a byte per other row
template <class N>
__global__ void __launch_bounds__(threads) send_charges_kernel(BlockTrace tracing, PatchArgs<N> a, PeerExchange exchange)
{
    const BlockSpan span(tracing);

    const int owner = static_cast<int>(blockIdx.y);
    if (owner != a.rank)
    {
        const auto message = a.message(exchange.senders[owner].slot(), owner);
        const auto is_own = [&](std::int32_t row) { return a.owned[a.rank].contains(row / a.points[1], a.points[0]); };
        const auto is_touched = [&](std::int32_t i) {
            const std::int32_t row = a.row(owner, i);
            const std::uint8_t touched = a.touched[row];
            message.touched[i] = touched;
            if (touched != 0 && !is_own(row)) { a.touched[row] = 0; }
            return touched != 0;
        };
        for_marked(a.rows_of(owner), is_touched, [&](std::int32_t i) {
            const std::int32_t row = a.row(owner, i);
            mesh::ChargeSum<N>* const from = a.patch + static_cast<std::int64_t>(row) * a.points[2];
            mesh::ChargeSum<N>* const to = message.charges + static_cast<std::int64_t>(i) * a.points[2];
            const bool is_kept = is_own(row);
            for_points(a.points[2], [&](int z) {
                to[z] = from[z];
                if (!is_kept) { from[z] = 0; }
            });
        });
    }
    exchange.end();
}

// Purpose        adds the charges of all ranks on this rank's planes
// Work           a warp per row, rank by rank
// Reads/Writes   messages, the patch / the patch; marks of this rank's planes are cleared
// Orders         waits for all messages with acquire
// Requires       all ranks that share this GPU have queued their sends
// Cost           a load and a sum per point of a row that another rank touches
template <class N>
__global__ void __launch_bounds__(threads) take_in_kernel(BlockTrace tracing, PatchArgs<N> a, PeerExchange exchange)
{
    const BlockSpan span(tracing);

    if (!exchange.begin()) { return; }
    const std::int32_t rows = a.rows_of(a.rank);
    for (int rank = 0; rank < exchange.ends.ranks; ++rank)
    {
        if (rank == a.rank) { continue; }
        const auto message = a.message(exchange.receivers[rank].slot(), a.rank);
        for_marked(
            rows, [&](std::int32_t i) { return message.touched[i] != 0; },
            [&](std::int32_t i) {
                mesh::ChargeSum<N>* const to = a.patch + static_cast<std::int64_t>(a.row(a.rank, i)) * a.points[2];
                const mesh::ChargeSum<N>* const from = message.charges + static_cast<std::int64_t>(i) * a.points[2];
                for_points(a.points[2], [&](int z) { to[z] += from[z]; });
            });
    }
    const std::int32_t stride = static_cast<std::int32_t>(gridDim.x) * threads;
    for (auto i = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x); i < rows; i += stride)
    {
        a.touched[a.row(a.rank, i)] = 0;
    }
    exchange.end();
}

// Purpose        sends other ranks the potentials of the rows that they touch
// Work           some blocks per rank (y); a warp per row
// Reads/Writes   messages of charges, potentials / messages
// Orders         the last block signals all ranks with release
// Requires       charges have been taken in; receivers have used the previous potentials, since they sent charges afterwards
// Cost           a load and a store per point of a touched row
template <class N>
__global__ void __launch_bounds__(threads) send_potentials_kernel(BlockTrace tracing, PatchArgs<N> a, const GpuReceiver* charges,
                                                                  const typename N::Real* potentials, PeerExchange exchange)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;

    const int rank = static_cast<int>(blockIdx.y);
    if (rank != a.rank)
    {
        const auto message = a.message(charges[rank].slot(), a.rank);
        Real* const to = reinterpret_cast<Real*>(exchange.senders[rank].slot());
        for_marked(
            a.rows_of(a.rank), [&](std::int32_t i) { return message.touched[i] != 0; },
            [&](std::int32_t i) {
                const std::int64_t first = static_cast<std::int64_t>(i) * a.points[2];
                for_points(a.points[2], [&](int z) { to[first + z] = potentials[first + z]; });
            });
    }
    exchange.end();
}

// The kernels that exchange messages.
enum Kernel : std::size_t
{
    sends_charges,
    takes_in,
    sends_potentials,
    awaits,
    kernels
};

// Returns a grid with one warp per 32 rows.
LaunchShape shape_for(std::size_t rows)
{
    LaunchShape shape = one_thread_each(rows, threads);
    shape.blocks = std::min(shape.blocks, most_blocks);
    return shape;
}
LaunchShape shape_for(std::size_t rows, int messages)
{
    LaunchShape shape = shape_for(rows);
    shape.blocks_y = messages;
    return shape;
}

} // namespace

template <class N>
GpuMeshPatch<N>::GpuMeshPatch(GpuQueue& queue, const GpuMeshMemory& memory, int rank, const Real* potentials)
    : memory_(memory), rank_(rank), potentials_(potentials), charges_of_(queue, memory.setup.parameters)
{
    const MeshCut& cut = memory.setup.cut;
    const std::array<int, 3>& points = cut.points;
    const auto rows = static_cast<std::size_t>(points[0]) * static_cast<std::size_t>(points[1]);
    const mesh::PlaneRange& own = cut.planes[static_cast<std::size_t>(rank)];
    PARHELION_EXPECTS(own.first + own.count <= points[0]); // the planes are then contiguous in the patch
    plane_ = static_cast<std::size_t>(points[1]) * static_cast<std::size_t>(points[2]);
    own_ = static_cast<std::size_t>(own.first) * plane_;
    queue.make_current();
    owned_.upload(queue, cut.planes);
    patch_.resize(rows * static_cast<std::size_t>(points[2])), touched_.resize(rows), done_.resize(kernels);
    patch_.clear(queue), touched_.clear(queue), done_.clear(queue);
    charge_planes_ = mesh_planes(queue, patch_.data(), points, {0, points[0]});
    std::vector<const Real*> planes(static_cast<std::size_t>(points[0]));
    for (int owner = 0; owner < cut.ranks(); ++owner)
    {
        if (owner != rank && !memory.potentials) { continue; } // this rank has all planes
        const mesh::PlaneRange& of = cut.planes[static_cast<std::size_t>(owner)];
        const Real* const first =
            owner == rank ? potentials : reinterpret_cast<const Real*>(memory.potentials->arrived(owner, rank));
        for (int i = 0; i < of.count; ++i)
        {
            planes[static_cast<std::size_t>(of.plane(i, points[0]))] = first + static_cast<std::size_t>(i) * plane_;
        }
    }
    potential_planes_.upload(queue, planes);
    queue.synchronize(); // waits until the host's tables are copied
}

template <class N>
PatchArgs<N> GpuMeshPatch<N>::args()
{
    return {rank_, memory_.setup.cut.points, owned_.data(), patch_.data(), touched_.data()};
}

// Returns the number of rows of the rank with the most planes.
template <class N>
std::size_t GpuMeshPatch<N>::most_rows() const
{
    int planes = 0;
    for (const mesh::PlaneRange& range : memory_.setup.cut.planes) { planes = std::max(planes, range.count); }
    return static_cast<std::size_t>(planes) * static_cast<std::size_t>(memory_.setup.cut.points[1]);
}

template <class N>
void GpuMeshPatch<N>::spread_and_send(GpuQueue& queue, GpuState<N>& state)
{
    spread_charges(queue, state, memory_.setup.parameters, MeshAtomsOf::Home, charge_planes_.data(), touched_.data(),
                   charges_of_.take(queue, state));
    const GpuRankEnds& ends = memory_.charges->of(rank_);
    launch(queue, Phase::MeshExchange, send_charges_kernel<N>, shape_for(most_rows(), ends.ranks), args(),
           PeerExchange{.ends = ends, .senders = ends.senders, .done = done_.data() + sends_charges});
}

template <class N>
void GpuMeshPatch<N>::take_in(GpuQueue& queue)
{
    const GpuRankEnds& ends = memory_.charges->of(rank_);
    launch(queue, Phase::MeshExchange, take_in_kernel<N>, shape_for(most_rows()), args(),
           PeerExchange{.ends = ends, .receivers = ends.receivers, .done = done_.data() + takes_in});
}

template <class N>
void GpuMeshPatch<N>::send_potentials(GpuQueue& queue)
{
    if (!memory_.potentials) { return; } // every rank has all potentials itself
    const GpuRankEnds& ends = memory_.potentials->of(rank_);
    launch(queue, Phase::MeshExchange, send_potentials_kernel<N>, shape_for(most_rows(), ends.ranks), args(),
           memory_.charges->of(rank_).receivers, potentials_,
           PeerExchange{.ends = ends, .senders = ends.senders, .done = done_.data() + sends_potentials});
}

template <class N>
void GpuMeshPatch<N>::await_potentials(GpuQueue& queue)
{
    if (!memory_.potentials) { return; }
    await_peers(queue, memory_.potentials->of(rank_), done_.data() + awaits);
}

template <class N>
void GpuMeshPatch<N>::gather(GpuQueue& queue, GpuState<N>& state, int weight)
{
    gather_forces(queue, state, memory_.setup.parameters, MeshAtomsOf::Home, potential_planes_.data(), weight, false,
                  charges_of_.atoms());
}

#define PARHELION_INSTANTIATE(N) template class GpuMeshPatch<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
