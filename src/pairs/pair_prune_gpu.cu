// SPDX-License-Identifier: Apache-2.0
// Pruning: what is left of a pair list at the present positions, and its division into shares.
#include "device/block_trace.cuh"
#include "device/launch.cuh"
#include "pairs/pair_list_gpu.hpp"
#include "pairs/pair_tiles.cuh"

namespace parhelion {

using namespace pair_tiles;

namespace {

constexpr int prune_warps = 6; // which take the entries of a row in a liquid at once
// Costs in the force kernel, in twentieths of a plain tile.
constexpr std::uint32_t row_cost = 100;
__device__ std::uint32_t cost_of(PairWord word, bool masked)
{
    return (masked ? 60 : 45) + (masked ? 25 : 20) * static_cast<std::uint32_t>(__popc(word & 0xff));
}

// The clusters of `word` with an atom within the cutoff of one of the j atoms.
template <bool exact>
__device__ std::uint32_t clusters_in_range(PairWord word, const uint4 (&j)[2], const std::uint32_t (&xi)[8][3],
                                           const AtomBounds& own, const Scale& nm, float cutoff2)
{
    std::uint32_t bits = 0;
    float x[2], y[2], z[2];
    for (int h = 0; h < 2; ++h)
    {
        x[h] = offset(j[h].x, own.x, nm.x), y[h] = offset(j[h].y, own.y, nm.y), z[h] = offset(j[h].z, own.z, nm.z);
    }
#pragma unroll
    for (int c = 0; c < clusters_per_supercluster; ++c)
    {
        if ((word >> c & 1) == 0) { continue; }
        float r2[2];
#pragma unroll
        for (int h = 0; h < 2; ++h)
        {
            const float dx = exact ? offset(xi[c][0], j[h].x, nm.x) : __uint_as_float(xi[c][0]) - x[h];
            const float dy = exact ? offset(xi[c][1], j[h].y, nm.y) : __uint_as_float(xi[c][1]) - y[h];
            const float dz = exact ? offset(xi[c][2], j[h].z, nm.z) : __uint_as_float(xi[c][2]) - z[h];
            r2[h] = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
        }
        if (__any_sync(all_lanes, fminf(r2[0], r2[1]) < cutoff2)) { bits |= 1u << c; }
    }
    return bits;
}

struct PruneArguments
{
    const AtomBounds *superclusters, *clusters;
    GpuPairRow* rows;
    const PairWord* entries;
    PairWord* pruned;
    const DeviceScalars* scalars;
    float cutoff2;
};

// Tiles of an entry, a bit per i cluster, as their bounding boxes have it.
struct BoxedTiles
{
    std::uint32_t possible; // may have a pair in range
    std::uint32_t certain;  // have their middles in range, and hence a pair, but for the rarest, which do no harm
};
__device__ BoxedTiles tiles_by_boxes(const AtomBounds (&i)[clusters_per_supercluster], const AtomBounds& j, const Scale& nm,
                                     float cutoff2)
{
    BoxedTiles tiles{0, 0};
    for (int c = 0; c < clusters_per_supercluster; ++c)
    {
        const float x = fabsf(offset(i[c].x, j.x, nm.x)), y = fabsf(offset(i[c].y, j.y, nm.y)),
                    z = fabsf(offset(i[c].z, j.z, nm.z));
        const float gap_x = fmaxf(x - (i[c].half_x + j.half_x), 0.0f), gap_y = fmaxf(y - (i[c].half_y + j.half_y), 0.0f),
                    gap_z = fmaxf(z - (i[c].half_z + j.half_z), 0.0f);
        if (gap_x * gap_x + gap_y * gap_y + gap_z * gap_z < cutoff2) { tiles.possible |= 1u << c; }
        if (x * x + y * y + z * z < cutoff2) { tiles.certain |= 1u << c; }
    }
    return tiles;
}

// Prunes every prune_warps-th 32 entries of a row, from this warp's on. Returns the lane's share of the cost.
template <class N, bool exact>
__device__ std::uint32_t prune_row(const PruneArguments& a, const PositionCharge<N>* xq, const GpuPairRow& row, int supercluster,
                                   const AtomBounds (&i_cluster)[clusters_per_supercluster], int* kept)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const AtomBounds own = a.superclusters[supercluster];
    const Scale nm = leading_scale<N>(*a.scalars);
    std::uint32_t xi[8][3];
    for (int c = 0; c < clusters_per_supercluster; ++c)
    {
        const PositionCharge<N> p = xq[supercluster * supercluster_size + c * cluster_size + i_of_lane(lane)];
        const std::uint32_t x = leading(p.x), y = leading(p.y), z = leading(p.z);
        xi[c][0] = exact ? x : __float_as_uint(offset(x, own.x, nm.x));
        xi[c][1] = exact ? y : __float_as_uint(offset(y, own.y, nm.y));
        xi[c][2] = exact ? z : __float_as_uint(offset(z, own.z, nm.z));
    }
    std::uint32_t cost = 0;
    for (int first = warp * 32; first < row.count; first += prune_warps * 32)
    {
        const PairWord mine = first + lane < row.count ? a.entries[row.begin + first + lane] : 0;
        const BoxedTiles boxed = tiles_by_boxes(i_cluster, a.clusters[mine >> 8], nm, a.cutoff2);
        PairWord left = (mine & ~0xffu) | (mine & boxed.certain);
        // What boxes leave open, the atoms decide, one entry after another.
        const std::uint32_t open = mine & boxed.possible & ~boxed.certain & 0xffu;
        std::uint32_t todo = __ballot_sync(all_lanes, open != 0);
        // The same in all lanes, and the compiler knows it.
        const auto word_of = [&](int k) { return __reduce_or_sync(all_lanes, lane == k ? (mine & ~0xffu) | open : 0); };
        PairWord word = word_of(max(__ffs(todo) - 1, 0));
        PositionCharge<N> p[2] = {xq[j_slot(word, lane)], xq[j_slot(word, lane) + j_lanes]};
        while (todo != 0)
        {
            const int k = __ffs(todo) - 1;
            todo &= todo - 1;
            const PairWord next_word = word_of(max(__ffs(todo) - 1, 0));
            const PositionCharge<N> next[2] = {xq[j_slot(next_word, lane)], xq[j_slot(next_word, lane) + j_lanes]};
            const uint4 j[2] = {{leading(p[0].x), leading(p[0].y), leading(p[0].z), 0},
                                {leading(p[1].x), leading(p[1].y), leading(p[1].z), 0}};
            const std::uint32_t bits = clusters_in_range<exact>(word, j, xi, own, nm, a.cutoff2);
            if (lane == k) { left |= bits; }
            word = next_word, p[0] = next[0], p[1] = next[1];
        }
        const int k = first + lane;
        const bool masked = k < row.masked, keep = !masked && (left & 0xff) != 0;
        if (masked) { a.pruned[row.begin + k] = left; }
        const std::uint32_t keeping = __ballot_sync(all_lanes, keep);
        int place = 0;
        if (lane == 0) { place = atomicAdd(kept, __popc(keeping)); }
        place = __shfl_sync(all_lanes, place, 0) + __popc(keeping & ((1u << lane) - 1));
        if (keep) { a.pruned[row.begin + row.masked + place] = left; }
        if (masked || keep) { cost += cost_of(left, masked); }
    }
    return cost;
}

// Purpose        keep the tiles that have a pair in range
// Work           a block per row; a warp takes 32 entries at a time, looks at the boxes of an entry's tiles in each lane, and
// tests
//                what these leave open entry by entry, two pairs a lane
// Reads/Writes   entries, bounds, positions / pruned entries, cost of rows
// Orders         entries of a row come in any order
// Requires       a list of this order of atoms, bounds of the present positions
// Cost           about 20 instructions a tile that is left open, a third of all
template <class N>
__global__ void __launch_bounds__(32 * prune_warps, 6) // one wave of 50 000 atoms
    prune_kernel(BlockTrace tracing, PruneArguments a, const PositionCharge<N>* xq)
{
    const BlockSpan span(tracing);

    __shared__ int kept;
    __shared__ std::uint32_t cost;
    __shared__ AtomBounds i_cluster[clusters_per_supercluster];
    const int supercluster = blockIdx.x, t = threadIdx.x;
    const GpuPairRow row = a.rows[supercluster];
    if (t == 0) { kept = 0, cost = 0; }
    if (t < clusters_per_supercluster) { i_cluster[t] = a.clusters[supercluster * clusters_per_supercluster + t]; }
    __syncthreads();
    const std::uint32_t of_lane = row.exact != 0 ? prune_row<N, true>(a, xq, row, supercluster, i_cluster, &kept)
                                                 : prune_row<N, false>(a, xq, row, supercluster, i_cluster, &kept);
    const std::uint32_t of_warp = __reduce_add_sync(all_lanes, of_lane);
    if (threadIdx.x % 32 == 0) { atomicAdd(&cost, of_warp); }
    __syncthreads();
    if (threadIdx.x == 0)
    {
        a.rows[supercluster].pruned = row.masked + kept;
        a.rows[supercluster].cost = row.masked + kept > 0 ? row_cost + cost : 0;
    }
}

struct RowSum
{
    unsigned long long cost;
    int rows;
};

// Purpose        gather the rows that have entries, and the cost of all before each
// Work           one block: each thread a run of rows, a scan over the threads between
// Reads/Writes   rows / busy_rows, busy_count, cost_before
// Orders         nothing: stream order alone
// Requires       pruned rows
// Cost           latency: some microseconds
constexpr int gather_threads = 1024;
__global__ void __launch_bounds__(gather_threads)
    gather_rows_kernel(BlockTrace tracing, const GpuPairRow* rows, int row_count, GpuPairRow* busy_rows, int* busy_count,
                       unsigned long long* cost_before)
{
    const BlockSpan span(tracing);

    __shared__ RowSum of_warp[32];
    const int t = threadIdx.x, lane = t % 32;
    const int run = (row_count + gather_threads - 1) / gather_threads;
    const int begin = min(t * run, row_count), end = min(begin + run, row_count);
    RowSum mine{0, 0};
    for (int r = begin; r < end; ++r) { mine.cost += rows[r].cost, mine.rows += rows[r].cost > 0 ? 1 : 0; }
    RowSum sum = mine;
    for (int distance = 1; distance < 32; distance *= 2)
    {
        const unsigned long long cost = __shfl_up_sync(all_lanes, sum.cost, distance);
        const int count = __shfl_up_sync(all_lanes, sum.rows, distance);
        if (lane >= distance) { sum.cost += cost, sum.rows += count; }
    }
    if (lane == 31) { of_warp[t / 32] = sum; }
    __syncthreads();
    RowSum before{sum.cost - mine.cost, sum.rows - mine.rows};
    for (int w = 0; w < t / 32; ++w) { before.cost += of_warp[w].cost, before.rows += of_warp[w].rows; }
    for (int r = begin; r < end; ++r)
    {
        const GpuPairRow row = rows[r];
        if (row.cost == 0) { continue; }
        busy_rows[before.rows] = row;
        cost_before[before.rows++] = before.cost;
        before.cost += row.cost;
    }
    if (t == gather_threads - 1) { *busy_count = before.rows, cost_before[before.rows] = before.cost; }
}

// Purpose        divide the list into shares
// Work           a warp per share and one for the end: a binary search for the row, then the row's entries, 32 at a time
// Reads/Writes   rows, pruned entries, cost_before / shares
// Orders         nothing: stream order alone
// Requires       cost_before of these rows
// Cost           latency: some microseconds
constexpr int share_warps = 4;
// Into how many shares, and are these smaller from one to the next? Warps do not end together: what is left for those that are
// early had better be little. That needs more shares than run at once, and a share costs by itself as much as some tiles; so a
// small list has no more, and they are equal, unless pairs of halo atoms run beside it, which come first and make room bit by
// bit.
struct Division
{
    unsigned used;
    bool shrinking;
};
__device__ Division divide(unsigned long long cost, unsigned shares, PairPart part, bool is_all)
{
    constexpr unsigned of_two_rounds = 1200, of_nonlocal = 800; // twentieths of a tile
    if (part == PairPart::Nonlocal) { return {min(static_cast<unsigned>(cost / of_nonlocal) + 1, shares), false}; }
    if (cost / of_two_rounds >= shares) { return {shares, true}; }
    return is_all ? Division{shares / 2, false} : Division{shares / 4 * 3, true};
}
// What comes before share s. If they shrink, a straight line leads from the first size to the last, 13 : 3.
__device__ unsigned long long cost_before_share(unsigned s, const Division& division, unsigned long long cost)
{
    if (s >= division.used) { return cost; }
    if (!division.shrinking) { return cost * s / division.used; }
    constexpr double last = 0.3, whole = 0.5 + last; // in units of what sizes shrink by
    const double part = static_cast<double>(s) / division.used;
    return static_cast<unsigned long long>(static_cast<double>(cost) * (part * (1 + last - part / 2) / whole));
}
__global__ void __launch_bounds__(32 * share_warps)
    place_shares_kernel(BlockTrace tracing, const GpuPairRow* rows, const int* busy_count, const PairWord* pruned,
                        const unsigned long long* cost_before, int shares, PairPart part, bool is_all, PairShare* share)
{
    const BlockSpan span(tracing);

    const int s = blockIdx.x * share_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (s > shares) { return; }
    const int row_count = *busy_count;
    const unsigned long long total = cost_before[row_count];
    const unsigned long long target =
        cost_before_share(static_cast<unsigned>(s), divide(total, static_cast<unsigned>(shares), part, is_all), total);
    int r = 0; // the last row with less before it than the target, or the first
    for (int above = row_count; above - r > 1;)
    {
        const int middle = r + (above - r) / 2;
        (cost_before[middle] < target ? r : above) = middle;
    }
    const GpuPairRow row = row_count > 0 ? rows[r] : GpuPairRow{};
    PairPlace place{r, 0};
    if (s > 0 && row_count > 0)
    {
        std::uint32_t into = static_cast<std::uint32_t>(min(target - cost_before[r], 0xffffffffull)), before = row_cost;
        for (int first = 0; first < row.pruned; first += 32)
        {
            const int e = first + lane;
            std::uint32_t sum = e < row.pruned ? cost_of(pruned[row.begin + e], e < row.masked) : 0;
            for (int distance = 1; distance < 32; distance *= 2)
            {
                const std::uint32_t other = __shfl_up_sync(all_lanes, sum, distance);
                if (lane >= distance) { sum += other; }
            }
            // Entries that end before the target belong to the share before.
            const int passed = __popc(__ballot_sync(all_lanes, e < row.pruned && before + sum <= into));
            place.entry = first + passed;
            if (passed < 32) { break; }
            before += __shfl_sync(all_lanes, sum, 31);
        }
    }
    if (lane == 0) { share[s] = {row, place}; }
}

} // namespace

template <class N>
void prune_pair_list(GpuQueue& queue, const GpuState<N>& state, double cutoff, GpuPairList& list)
{
    const auto superclusters = static_cast<int>(state.superclusters());
    const float reach = static_cast<float>(cutoff) * margin;
    const PruneArguments arguments{list.superclusters.data(), list.clusters.data(), list.rows.data(), list.entries.data(),
                                   list.pruned.data(),        state.scalars.data(), reach * reach};
    launch(queue, Phase::PairList, prune_kernel<N>, {superclusters, 32 * prune_warps}, arguments, state.xq.data());
    launch(queue, Phase::PairList, gather_rows_kernel, {1, gather_threads}, list.rows.data(), superclusters,
           list.busy_rows.data(), list.busy_count.data(), list.cost_before.data());
    launch(queue, Phase::PairList, place_shares_kernel, one_thread_each(list.shares.size() * 32, 32 * share_warps),
           list.busy_rows.data(), list.busy_count.data(), list.pruned.data(), list.cost_before.data(), list.share_count(),
           list.part, list.is_all, list.shares.data());
}

#define PARHELION_INSTANTIATE(N) template void prune_pair_list<N>(GpuQueue&, const GpuState<N>&, double, GpuPairList&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
