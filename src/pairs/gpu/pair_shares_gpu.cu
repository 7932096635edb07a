// SPDX-License-Identifier: Apache-2.0
#include "pairs/gpu/pair_shares_gpu.hpp"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/instructions.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "pairs/gpu/pair_costs.cuh"
#include "trace/phases.hpp"

namespace parhelion {

using namespace pair_costs;

namespace {

// The number of shares, and whether their sizes shrink from one to the next. Warps do not end together, so
// the last shares should be small. That needs more shares than run at once, and a share itself costs as
// much as some tiles. A small list therefore has only as many shares as run at once, of equal size. Its shares shrink if pairs of
// halo atoms run at the same time, since those begin first and free multiprocessors gradually, and beside kernels of a mesh,
// which occupy some at times. A very small list leaves multiprocessors for bonded forces.
struct Division
{
    unsigned used;
    bool shrinking;
};
struct ListKind
{
    PairPart part;
    bool is_all, is_beside_mesh;
};
__device__ Division divide(unsigned long long cost, unsigned shares, ListKind list)
{
    constexpr unsigned of_two_rounds = 960, least = 600, of_nonlocal = 800; // twentieths of a tile
    const auto shares_of = [&](unsigned one, unsigned most) -> unsigned {
        return min(static_cast<unsigned>(cost / one) + 1, most);
    };
    if (list.part == PairPart::Nonlocal) { return {shares_of(of_nonlocal, shares), false}; }
    const bool is_small = cost / of_two_rounds < shares;
    if (!list.is_all || !is_small) { return {shares, true}; }
    return list.is_beside_mesh ? Division{shares_of(least, shares), true} : Division{shares_of(least, shares / 2), false};
}

// The sum over some rows, such as all rows before one: their cost, and how many of them have entries.
struct RowSum
{
    unsigned long long cost;
    unsigned busy;
};

constexpr int share_warps = 16; // warps of a block; each works on one row

// Sums of one warp over the rows that its lanes look at.
struct WarpSum
{
    std::uint32_t before, all, busy_before; // cost of rows before the block's first one, and of all rows; rows with entries
};

// The pruned rows of a list.
struct PrunedRows
{
    const GpuPairRow* row;
    const std::uint32_t* cost;
    int count;
};

// Adds up the costs of all rows, as a block could wait for others only by a new launch. Returns the sum over the rows before this
// warp's row, whose cost is `own`, and sets `all` to the cost of all rows. All threads of the block must call it.
__device__ RowSum add_up(const PrunedRows& rows, std::uint32_t own, unsigned long long& all)
{
    __shared__ WarpSum sum_of[share_warps];
    __shared__ std::uint32_t own_cost[share_warps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first_of_block = blockIdx.x * share_warps;
    WarpSum mine{};
#pragma unroll 8
    for (int r = threadIdx.x; r < rows.count; r += 32 * share_warps)
    {
        const std::uint32_t cost = rows.cost[r];
        mine.all += cost;
        if (r < first_of_block) { mine.before += cost, mine.busy_before += cost > 0 ? 1 : 0; }
    }
    mine = {sum_of_lanes(mine.before), sum_of_lanes(mine.all), sum_of_lanes(mine.busy_before)};
    if (lane == 0) { sum_of[warp] = mine, own_cost[warp] = own; }
    __syncthreads();
    // Lane k adds the sum of warp k, and the row of warp k if it is before this warp's.
    RowSum before{};
    all = 0;
    if (lane < share_warps)
    {
        const WarpSum& other = sum_of[lane];
        const std::uint32_t cost = lane < warp ? own_cost[lane] : 0;
        before = {static_cast<unsigned long long>(other.before) + cost, other.busy_before + (cost > 0 ? 1 : 0)};
        all = other.all;
    }
    for (int distance = share_warps / 2; distance > 0; distance /= 2)
    {
        before.cost += from_lane_across(before.cost, distance);
        all += from_lane_across(all, distance);
    }
    all = from_lane(all, 0);
    return {from_lane(before.cost, 0), sum_of_lanes(before.busy)};
}

// Where the shares of a list begin: share s at the cost begin_of(s). Shares from division.used on have no work.
class Shares
{
public:
    __device__ Shares(const Division& division, unsigned long long cost)
        : division_(division), cost_(static_cast<float>(cost)), per_share_(1 / static_cast<float>(division.used))
    {
    }
    // Single precision suffices: the smallest share has a cost far above the rounding error, so begins increase with s.
    __device__ unsigned long long begin_of(unsigned s) const
    {
        const float part = static_cast<float>(s) * per_share_;
        return static_cast<unsigned long long>(cost_ * (division_.shrinking ? part * (1 + last - part / 2) * (1 / whole) : part));
    }
    // Returns the first share that begins at `cost` or later, or division.used.
    __device__ unsigned first_from(unsigned long long cost) const
    {
        const float part = static_cast<float>(cost) / cost_;
        const float share =
            division_.shrinking ? 1 + last - sqrtf(fmaxf(0.0f, (1 + last) * (1 + last) - 2 * whole * part)) : part;
        auto s = min(static_cast<unsigned>(fmaxf(share, 0.0f) * static_cast<float>(division_.used)),
                     division_.used); // may be off by one or two
        while (s > 0 && begin_of(s - 1) >= cost) { --s; }
        while (s < division_.used && begin_of(s) < cost) { ++s; }
        return s;
    }
    __device__ unsigned used() const { return division_.used; }

private:
    // The sizes of shrinking shares fall linearly: the first is to the last as 13 to 3.
    static constexpr float last = 0.3f, whole = 0.5f + last; // sizes: last share, mean (first - last: 1)

    Division division_;
    float cost_, per_share_;
};

constexpr int entries_of_lane = 4; // at a time

// Loads this lane's entries of a row, from entry `first` of the warp on.
struct LaneEntries
{
    PairWord word[entries_of_lane];

    __device__ LaneEntries(const GpuPairRow& row, const PairWord* pruned, int first)
    {
        const int lane = threadIdx.x % 32;
        for (int k = 0; k < entries_of_lane; ++k)
        {
            const int e = first + lane * entries_of_lane + k;
            word[k] = e < row.pruned ? pruned[row.begin + e] : 0;
        }
    }
};

// Stores the shares that begin in a row. `before`: the sums over the rows before it. `entries`: the row's first ones. All lanes
// of a warp call it.
__device__ void cut_row(const GpuPairRow& row, const RowSum& before, const PairWord* pruned, LaneEntries entries,
                        const Shares& shares, PairShare* share)
{
    const int lane = threadIdx.x % 32;
    unsigned long long done = before.cost; // cost of entries before `first`; that of a row is part of its first entry's
    for (int first = 0; first < row.pruned; first += 32 * entries_of_lane)
    {
        if (first > 0) { entries = LaneEntries(row, pruned, first); }
        std::uint32_t end[entries_of_lane], sum = first == 0 && lane == 0 ? row_cost : 0;
        for (int k = 0; k < entries_of_lane; ++k)
        {
            const int e = first + lane * entries_of_lane + k;
            sum += e < row.pruned ? cost_of(entries.word[k], e < row.masked) : 0;
            end[k] = sum; // cost of this lane's entries up to and including entry k
        }
        std::uint32_t up_to = sum; // this lane's and those of the lanes below
        for (int distance = 1; distance < 32; distance *= 2)
        {
            const std::uint32_t other = from_lane_below(up_to, distance);
            if (lane >= distance) { up_to += other; }
        }
        const unsigned long long begin = done + (up_to - sum);
        if (sum > 0)
        {
            // A share begins at the entry in which the sum of costs reaches the share's begin.
            unsigned s = shares.first_from(begin);
            for (int k = 0; k < entries_of_lane; ++k)
            {
                for (; s < shares.used() && shares.begin_of(s) < begin + end[k]; ++s)
                {
                    share[s] = {row, {static_cast<std::int32_t>(before.busy), first + lane * entries_of_lane + k}};
                }
            }
        }
        done += from_lane(up_to, 31);
    }
}

// Purpose        divides the list into shares, and gathers the rows that have entries
// Work           by a warp per row, which finds the shares that begin in the row; each block adds up the costs of all rows
// Reads/Writes   rows, their costs, pruned entries / shares and one for the end, busy_rows
// Orders         no memory accesses; the order of the stream suffices
// Requires       a pruned list
// Cost           latency: two dependent loads, some 500 instructions of a warp, and four bytes per row and block
__global__ void PARHELION_LAUNCH_BOUNDS(32 * share_warps, 2)
    cut_shares_kernel(BlockTrace tracing, PrunedRows rows, const PairWord* pruned, int count, ListKind list, PairShare* share,
                      GpuPairRow* busy_rows)
{
    const BlockSpan span(tracing);

    const int r = blockIdx.x * share_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
    await_kernel_before();
    const GpuPairRow row = r < rows.count ? rows.row[r] : GpuPairRow{}; // loaded at the same time as the cost
    const std::uint32_t own = r < rows.count ? rows.cost[r] : 0;
    const LaneEntries first_entries(row, pruned, 0); // loaded while costs are added up
    unsigned long long cost = 0;
    const RowSum before = add_up(rows, own, cost);
    if (cost == 0) // no row of the list has entries
    {
        for (int s = blockIdx.x * blockDim.x + threadIdx.x; s <= count; s += gridDim.x * blockDim.x) { share[s] = {}; }
        return;
    }
    if (own == 0) { return; }
    const Shares shares(divide(cost, static_cast<unsigned>(count), list), cost);
    if (lane == 0) { busy_rows[before.busy] = row; }
    cut_row(row, before, pruned, first_entries, shares, share);
    if (before.cost + own < cost) { return; } // only the last row that has entries stores the empty shares
    const PairShare empty = {row, {static_cast<std::int32_t>(before.busy), row.pruned}};
    for (int s = static_cast<int>(shares.used()) + lane; s <= count; s += 32) { share[s] = empty; }
}

} // namespace

void cut_shares(GpuQueue& queue, int rows, GpuPairList& list)
{
    LaunchShape shape = one_thread_each(static_cast<std::size_t>(rows) * 32, 32 * share_warps);
    shape.begins_early = queue.launches_early(); // behind prune_kernel
    launch(queue, Phase::PairList, cut_shares_kernel, shape, PrunedRows{list.rows.data(), list.row_costs.data(), rows},
           list.pruned.data(), list.share_count(), ListKind{list.part, list.is_all, list.is_beside_mesh}, list.shares.data(),
           list.busy_rows.data());
}

} // namespace parhelion
