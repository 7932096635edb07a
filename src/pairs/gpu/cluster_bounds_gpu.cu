// SPDX-License-Identifier: Apache-2.0
// Computes the bounding boxes of clusters and superclusters, which the pair search compares.
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "pairs/gpu/pair_list_gpu.hpp"
#include "pairs/gpu/pair_tiles.cuh"
#include "trace/phases.hpp"

namespace parhelion {

using namespace pair_tiles;

namespace {

struct Extent
{
    std::uint32_t low, high; // low > high: no atoms
};
__device__ Extent united(Extent e, int distance)
{
    return {min(e.low, from_lane_across(e.low, distance)), max(e.high, from_lane_across(e.high, distance))};
}

// Purpose        computes bounding boxes of superclusters and clusters
// Work           by a warp per supercluster, two atoms a lane
// Reads/Writes   positions, global numbers / bounds; the demand of the list, which becomes zero
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing: atoms may be in any order
// Cost           20 bytes read, 13 written per atom
constexpr int bounds_warps = 4;
template <class N>
__global__ void __launch_bounds__(32 * bounds_warps)
    find_bounds_kernel(BlockTrace tracing, GpuCell cell, const PositionCharge<N>* xq, const std::int32_t* global_of_slot,
                       const DeviceScalars* scalars, int superclusters, AtomBounds* of_cluster, AtomBounds* of_supercluster,
                       PairListDemand* demand)
{
    const BlockSpan span(tracing);

    if (blockIdx.x == 0 && threadIdx.x == 0)
    {
        demand->most_entries = max(demand->most_entries, demand->entries), demand->entries = 0;
        demand->most_masks = max(demand->most_masks, demand->masks), demand->masks = 0;
    }
    const int supercluster = blockIdx.x * bounds_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (supercluster >= superclusters) { return; }
    const int slot = supercluster * supercluster_size + lane;
    const PositionCharge<N> p[2] = {xq[slot], xq[slot + 32]};
    const bool real[2] = {global_of_slot[slot] >= 0, global_of_slot[slot + 32] >= 0};
    const Scale<false> scale = leading_scale<N, false>(*scalars);
    const float nm[3] = {scale.x, scale.y, scale.z};
    std::uint32_t base[3];
    Extent e[2][3];
    for (int d = 0; d < 3; ++d)
    {
        const auto component = [&](int r) { return leading(d == 0 ? p[r].x : d == 1 ? p[r].y : p[r].z); };
        // Offsets are from the origin of the unrolled box, or from half a box below an atom. Fillers have the positions of atoms.
        const std::uint32_t first = from_lane(component(0), 0);
        base[d] = cell.is_divided(d) ? cell.origin[d] : first - 0x80000000u;
        for (int r = 0; r < 2; ++r)
        {
            const std::uint32_t x = component(r) - base[d];
            e[r][d] = real[r] ? Extent{x, x} : Extent{~0u, 0};
        }
    }
    const auto bounds = [&](const Extent(&extent)[3]) {
        AtomBounds b{};
        std::uint32_t middle[3];
        float half[3];
        for (int d = 0; d < 3; ++d)
        {
            const bool empty = extent[d].low > extent[d].high;
            const std::uint32_t size = extent[d].high - extent[d].low;
            middle[d] = empty ? 0 : base[d] + extent[d].low + size / 2;
            half[d] = empty ? -1e9f : (0.5f * static_cast<float>(size) + 256) * nm[d];
        }
        b.x = middle[0], b.y = middle[1], b.z = middle[2];
        b.half_x = half[0], b.half_y = half[1], b.half_z = half[2];
        return b;
    };
    for (int r = 0; r < 2; ++r)
    {
        for (int d = 0; d < 3; ++d) { e[r][d] = united(united(e[r][d], 1), 2); }
        for (int d = 0; d < 3; ++d) { e[r][d] = united(e[r][d], 4); }
        if (lane % 8 == 0) { of_cluster[(slot + 32 * r) / 8] = bounds(e[r]); }
    }
    Extent all[3];
    for (int d = 0; d < 3; ++d)
    {
        all[d] = {min(e[0][d].low, e[1][d].low), max(e[0][d].high, e[1][d].high)};
        all[d] = united(united(all[d], 8), 16);
    }
    if (lane == 0) { of_supercluster[supercluster] = bounds(all); }
}

} // namespace

template <class N>
void find_bounds(GpuQueue& queue, const GpuState<N>& state, const GpuCell& cell, GpuPairList& list)
{
    launch(queue, Phase::PairList, find_bounds_kernel<N>, one_thread_each(state.superclusters() * 32, 32 * bounds_warps), cell,
           state.xq.data(), state.global_of_slot.data(), state.scalars.data(), static_cast<int>(state.superclusters()),
           list.clusters.data(), list.superclusters.data(), list.demand.data());
}

#define PARHELION_INSTANTIATE(N) template void find_bounds<N>(GpuQueue&, const GpuState<N>&, const GpuCell&, GpuPairList&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
