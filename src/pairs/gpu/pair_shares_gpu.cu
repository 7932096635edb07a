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
// much as some tiles. A small list therefore has only as many equal shares as run at once. If pairs of halo
// atoms run beside it, which begin first and free places gradually, its shares shrink. They also shrink
// beside kernels of a mesh, which take places at times. A very small list leaves places for bonded forces.
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
// Returns the cost of all shares before share s. Shrinking sizes are on a straight line from the first to the last, 13 : 3.
__device__ unsigned long long cost_before_share(unsigned s, const Division& division, unsigned long long cost)
{
    if (s >= division.used) { return cost; }
    if (!division.shrinking) { return cost * s / division.used; }
    constexpr double last = 0.3, whole = 0.5 + last; // last: relative size of the last share
    const double part = static_cast<double>(s) / division.used;
    return static_cast<unsigned long long>(static_cast<double>(cost) * (part * (1 + last - part / 2) / whole));
}

__device__ std::uint32_t from_below(std::uint32_t value, int distance) { return from_lane_below(value, distance); }

// The cost of some rows, and how many of these rows have entries.
struct RowSum
{
    unsigned long long cost;
    int busy;

    __device__ RowSum& operator+=(const RowSum& other)
    {
        cost += other.cost, busy += other.busy;
        return *this;
    }
};
__device__ RowSum sum_from_lane(const RowSum& sum, int lane) { return {from_lane(sum.cost, lane), from_lane(sum.busy, lane)}; }
__device__ RowSum from_below(const RowSum& sum, int distance)
{
    return {from_lane_below(sum.cost, distance), from_lane_below(sum.busy, distance)};
}

// Returns the sum over this lane and the lanes below it.
template <class Sum>
__device__ Sum up_to_lane(Sum sum)
{
    const int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2)
    {
        const Sum other = from_below(sum, distance);
        if (lane >= distance) { sum += other; }
    }
    return sum;
}

// The pruned rows of a list. Every block adds up all rows, as it could wait for other blocks only by a new launch. Each
// warp of it adds up a part of the rows, each lane at most a piece of that part. A piece has a multiple of 32 rows.
constexpr int share_warps = 16;
struct PrunedRows
{
    const GpuPairRow* row;
    const std::uint32_t* cost;
    int count, piece, part;

    PrunedRows(const GpuPairList& list, int rows)
        : row(list.rows.data()), cost(list.row_costs.data()), count(rows),
          piece((rows + 32 * 32 * share_warps - 1) / (32 * 32 * share_warps) * 32),
          part((rows + piece * share_warps - 1) / (piece * share_warps) * piece)
    {
    }
    __device__ RowSum sum(int r) const
    {
        const std::uint32_t c = r < count ? cost[r] : 0;
        return {c, c > 0 ? 1 : 0};
    }
};

// The sums up to and including each lane's part; the last lanes have the total. Also the sums of pieces within a part.
struct SumsOfRows
{
    RowSum parts;
    const RowSum (*pieces)[32];
};
// Returns the sums. All threads of a block must call it.
__device__ SumsOfRows add_up(const PrunedRows& rows)
{
    __shared__ RowSum pieces[share_warps][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    RowSum of_piece{}; // this lane's piece
#pragma unroll 8
    for (int k = 0; k < rows.part; k += 32)
    {
        const RowSum sum = rows.sum(warp * rows.part + k + lane);
        const RowSum of_all = {sum_of_lanes(static_cast<std::uint32_t>(sum.cost)),
                               static_cast<int>(__popc(lanes_where(sum.busy)))};
        if (lane * rows.piece <= k && k < (lane + 1) * rows.piece) { of_piece += of_all; }
    }
    pieces[warp][lane] = up_to_lane(of_piece);
    __syncthreads();
    return {up_to_lane(lane < share_warps ? pieces[lane][31] : RowSum{}), pieces};
}

// Returns the sums over all rows before row r. All lanes of a warp call it.
__device__ RowSum sum_before(const PrunedRows& rows, const SumsOfRows& sums, int r)
{
    const int lane = threadIdx.x % 32, part = r / rows.part, piece = r % rows.part / rows.piece;
    RowSum before = part > 0 ? sum_from_lane(sums.parts, part - 1) : RowSum{};
    if (piece > 0) { before += sums.pieces[part][piece - 1]; }
    for (int first = part * rows.part + piece * rows.piece; first < r; first += 32)
    {
        const RowSum sum = first + lane < r ? rows.sum(first + lane) : RowSum{};
        before += {sum_of_lanes(static_cast<std::uint32_t>(sum.cost)), static_cast<int>(__popc(lanes_where(sum.busy != 0)))};
    }
    return before;
}

// The shares of a list. Share s begins where the cost before(s) is reached, at the earliest in the first row that has entries.
// Shares from division.used on have no work: they begin where the list ends.
struct Shares
{
    Division division;
    unsigned long long cost; // of the list

    __device__ unsigned long long before(unsigned s) const { return max(cost_before_share(s, division, cost), 1ull); }
    // Returns the first share with before(s) > done, or division.used. All lanes of a warp call it.
    __device__ unsigned first_after(unsigned long long done) const
    {
        constexpr float last = 0.3f, whole = 0.5f + last; // as in cost_before_share(), which is inverted here
        const float part = static_cast<float>(done) / static_cast<float>(cost);
        const float share = division.shrinking ? 1 + last - sqrtf(fmaxf(0.0f, (1 + last) * (1 + last) - 2 * whole * part)) : part;
        // The guess is off by less than a share. The lanes try the shares around it, and go on if none of them is the first.
        const int lane = threadIdx.x % 32, used = static_cast<int>(division.used);
        for (int first = max(static_cast<int>(share * static_cast<float>(used)) - 16, 0);;)
        {
            const int s = first + lane;
            const std::uint32_t later = lanes_where(s >= used || before(static_cast<unsigned>(s)) > done);
            if (later == 0) { first += 32; }
            else if ((later & 1) != 0 && first > 0) { first = max(first - 31, 0); }
            else { return static_cast<unsigned>(min(first + __ffs(static_cast<int>(later)) - 1, used)); }
        }
    }
};

// Returns to each lane with is_wanted how many entries of a row end before its `cost`, counted from the begin of the row. All
// lanes of a warp call it.
__device__ int entries_within(const GpuPairRow& row, const PairWord* pruned, std::uint32_t cost, bool is_wanted)
{
    constexpr int each = 4; // entries that a lane takes at a time
    const int lane = threadIdx.x % 32;
    const std::uint32_t wanted = lanes_where(is_wanted);
    std::uint32_t before = row_cost;
    int within = 0;
    for (int first = 0; first < row.pruned && any_lane(is_wanted && before <= cost); first += 32 * each)
    {
        std::uint32_t end[each], sum = 0; // end: cost of this lane's entries up to and including each
        for (int k = 0; k < each; ++k)
        {
            const int e = first + lane * each + k;
            sum += e < row.pruned ? cost_of(pruned[row.begin + e], e < row.masked) : 0;
            end[k] = sum;
        }
        const int here = min(max(row.pruned - first - lane * each, 0), each); // number of this lane's entries
        const std::uint32_t up_to = up_to_lane(sum), below = before + up_to - sum;
        for (std::uint32_t left = wanted; left != 0; left &= left - 1)
        {
            const int of = __ffs(static_cast<int>(left)) - 1;
            const std::uint32_t most = from_lane(cost, of);
            int ended = 0;
            for (int k = 0; k < each; ++k) { ended += static_cast<int>(__popc(lanes_where(k < here && below + end[k] <= most))); }
            if (lane == of) { within += ended; }
        }
        before += from_lane(up_to, 31);
    }
    return within;
}

// Stores the shares that begin in a row. `before`: the sums over the rows before it. All lanes of a warp call it.
__device__ void cut_row(const GpuPairRow& row, const RowSum& before, const RowSum& own, const PairWord* pruned,
                        const Shares& shares, int count, PairShare* share)
{
    const int lane = threadIdx.x % 32;
    const unsigned long long end = before.cost + own.cost;
    for (unsigned first = shares.first_after(before.cost); first < shares.division.used; first += 32)
    {
        const unsigned s = first + static_cast<unsigned>(lane);
        const unsigned long long reached = shares.before(s);
        const bool is_here = s < shares.division.used && reached <= end;
        const int entry = entries_within(row, pruned, static_cast<std::uint32_t>(reached - before.cost), is_here);
        if (is_here) { share[s] = {row, {before.busy, entry}}; }
        if (lanes_where(is_here) != all_lanes_mask) { break; }
    }
    if (end < shares.cost) { return; } // a later row has entries
    const PairShare empty = {row, {before.busy, row.pruned}};
    for (int s = static_cast<int>(shares.division.used) + lane; s <= count; s += 32) { share[s] = empty; }
}

// Purpose        divides the list into shares, and gathers the rows that have entries
// Work           by a warp per row, which finds the shares that begin in the row; each block adds up the costs of all rows
// Reads/Writes   rows, their costs, pruned entries / shares and one for the end, busy_rows
// Orders         no memory accesses; the order of the stream suffices
// Requires       a pruned list
// Cost           latency: some three dependent loads, and four bytes per row and block
__global__ void PARHELION_LAUNCH_BOUNDS(32 * share_warps, 3)
    cut_shares_kernel(BlockTrace tracing, PrunedRows rows, const PairWord* pruned, int count, ListKind list, PairShare* share,
                      GpuPairRow* busy_rows)
{
    const BlockSpan span(tracing);

    const int r = blockIdx.x * share_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
    const GpuPairRow row = r < rows.count ? rows.row[r] : GpuPairRow{}; // loaded while costs are
    const RowSum own = rows.sum(r);
    const SumsOfRows sums = add_up(rows);
    const unsigned long long cost = from_lane(sums.parts.cost, 31);
    if (cost == 0) // no row has entries
    {
        for (int s = blockIdx.x * blockDim.x + threadIdx.x; s <= count; s += gridDim.x * blockDim.x) { share[s] = {}; }
        return;
    }
    if (own.busy == 0) { return; }
    const RowSum before = sum_before(rows, sums, r);
    if (lane == 0) { busy_rows[before.busy] = row; }
    cut_row(row, before, own, pruned, {divide(cost, static_cast<unsigned>(count), list), cost}, count, share);
}

} // namespace

void cut_shares(GpuQueue& queue, int rows, GpuPairList& list)
{
    launch(queue, Phase::PairList, cut_shares_kernel, one_thread_each(static_cast<std::size_t>(rows) * 32, 32 * share_warps),
           PrunedRows(list, rows), list.pruned.data(), list.share_count(), ListKind{list.part, list.is_all, list.is_beside_mesh},
           list.shares.data(), list.busy_rows.data());
}

} // namespace parhelion
