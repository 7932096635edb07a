// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/slab_limits.cuh"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "interactions/mesh/spline.hpp"
#include "state/gpu/view.cuh"
#include "state/gpu/zones.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int threads = 256;

// Purpose        counts for each home atom the planes whose owners have the atom
// Work           a thread per slot
// Reads/Writes   positions, the box / planes by slot
// Orders         nothing; the order of the stream suffices
// Requires       the positions with which halos were made
// Cost           20 bytes a slot
template <class N>
__global__ void __launch_bounds__(threads)
    follow_kernel(BlockTrace tracing, GpuView<N> state, std::int32_t slots, const GpuCell* cells, const mesh::PlaneRange* planes,
                  int rank, int ranks, std::int32_t* reaches_back)
{
    const BlockSpan span(tracing);

    const auto slot = static_cast<std::int32_t>(blockIdx.x) * threads + static_cast<std::int32_t>(threadIdx.x);
    if (slot >= slots || state.zone(slot) != 0) { return; }
    const Vec3<double> nm_per_unit = gpu_zones::leading_nm_per_unit<N>(*state.scalars);
    const Vec3<std::uint32_t> x = state.leading_bits(slot), here{cells[rank].lower[0], 0, 0};
    std::int32_t count = planes[rank].count;
    for (int behind = 1; behind < ranks; ++behind)
    {
        const int owner = (rank - behind + ranks) % ranks;
        if (gpu_zones::zone_of(cells[owner], nm_per_unit, here, x) < 0) { break; }
        count += planes[owner].count;
    }
    reaches_back[slot] = count;
}

// Purpose        raises a flag unless every home atom (with `charged`: with a charge) is on all ranks whose planes it reaches
// Work           a thread per slot
// Reads/Writes   positions, charges, planes by slot / flags
// Orders         nothing; the order of the stream suffices
// Requires       nothing
// Cost           20 bytes a slot
template <class N>
__global__ void __launch_bounds__(threads)
    check_kernel(BlockTrace tracing, GpuView<N> state, std::int32_t slots, std::int32_t points, std::int32_t last_plane,
                 int order, bool charged, const std::int32_t* reaches_back)
{
    const BlockSpan span(tracing);

    const auto slot = static_cast<std::int32_t>(blockIdx.x) * threads + static_cast<std::int32_t>(threadIdx.x);
    if (slot >= slots || state.zone(slot) != 0) { return; }
    const PositionCharge<N> atom = state.xq[slot];
    const std::int32_t plane = mesh_place(atom.x, static_cast<std::uint32_t>(points)).point;
    const std::int32_t back = (last_plane - plane + points) % points;
    const bool counts = charged ? atom.charge != 0 : state.global_of_slot[slot] >= 0;
    if (!counts || (back >= order - 1 && back < reaches_back[slot])) { return; }
    atomic_or(&state.scalars->flags, std::uint32_t{gpu_flag_mesh_strayed});
}

} // namespace

template <class N>
GpuSlabLimits<N>::GpuSlabLimits(GpuQueue& queue, const MeshCut& cut, std::span<const GpuCell> cells, int rank)
    : cut_(cut), rank_(rank)
{
    queue.make_current();
    cells_.upload(queue, cells), planes_.upload(queue, cut.planes);
    queue.synchronize();
}

template <class N>
void GpuSlabLimits<N>::follow(GpuQueue& queue, GpuState<N>& state)
{
    reaches_back_.resize(state.slots);
    launch(queue, Phase::Reorder, follow_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int32_t>(state.slots), cells_.data(), planes_.data(), rank_, cut_.ranks(), reaches_back_.data());
}

template <class N>
void GpuSlabLimits<N>::check(GpuQueue& queue, GpuState<N>& state, MeshAtoms which)
{
    const mesh::PlaneRange& own = cut_.planes[static_cast<std::size_t>(rank_)];
    launch(queue, Phase::Spread, check_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int32_t>(state.slots), cut_.points[0], own.first + own.count - 1, cut_.order,
           which == MeshAtoms::Charged, reaches_back_.data());
}

#define PARHELION_INSTANTIATE(N) template class GpuSlabLimits<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
