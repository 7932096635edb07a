// SPDX-License-Identifier: Apache-2.0
// Prunes a pair list to the tiles in range at the present positions, and divides it into shares. Tensor cores find the tiles
// with a pair in range, at 30 instructions an entry. Because of rounding, one tile in some hundreds is kept without need.
#include "device/gpu/atomics.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/instructions.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "pairs/gpu/pair_list_gpu.hpp"
#include "pairs/gpu/pair_tiles.cuh"
#include "trace/phases.hpp"

#include <cuda_fp16.h>

namespace parhelion {

using namespace pair_tiles;

namespace {

// Costs in the force kernel, in twentieths of a tile without masks.
constexpr std::uint32_t row_cost = 100;
__device__ std::uint32_t cost_of(PairWord word, bool masked)
{
    return (masked ? 60 : 45) + (masked ? 25 : 20) * static_cast<std::uint32_t>(__popc(word & 0xff));
}

constexpr int entries_at_once = 32 / cluster_size; // entries of a warp at a time; each lane loads an atom of one

// |xi - xj|^2 - reach^2, which is negative in range, is a sum of products of factors of i and factors of j:
//
//   i   -2x  -2y  -2z   1    1    e   e'   0        e + e' = |xi|^2 - reach^2
//   j     x    y    z   s    s'   1    1   0        s + s' = |xj|^2
//
// The factors are in half precision; squares are split into two of them. The error is bounded: coordinates, measured
// from the middle of the supercluster, are rounded to 11 bits, and squares are those of rounded coordinates. The sum is
// thus exact for atoms that are displaced by no more than u |x| each, u = 2^-11. In a pair nearer than c, |xj| < |xi| +
// c. The displaced pair is nearer than c + u (2 |xi| + c), which is the reach. The sum in single precision, and second
// parts, are off by less than 2^-17 (|xi| + c)^2: partial sums are at most 4 (|xi| + c)^2, and each of seven additions
// may lose 2^-23 of that. This is added to reach^2, and so is 2^-17, as parts below 2^-14 are rounded to 2^-25.
constexpr float moved = 0x1.06p-11f; // the rounding u, plus the error of conversions to nm
constexpr float inexact = 0x1p-17f;

using Factors = uint4; // eight half-precision factors
__device__ Factors factors(__half2 a, __half2 b, __half2 c, __half2 d)
{
    const auto bits = [](const __half2& x) { return reinterpret_cast<const std::uint32_t&>(x); };
    return {bits(a), bits(b), bits(c), bits(d)};
}

// The position of an atom, rounded to half precision.
struct RoundedPlace
{
    __half2 xy;
    float z, square;
};
__device__ RoundedPlace rounded(const Vec3<float>& x)
{
    const __half2 xy = __floats2half2_rn(x.x, x.y);
    const float2 r = __half22float2(xy);
    const float z = __half2float(__float2half_rn(x.z));
    return {xy, z, fmaf(r.x, r.x, fmaf(r.y, r.y, z * z))};
}
__device__ Factors factors_of_j(const Vec3<float>& x)
{
    const RoundedPlace p = rounded(x);
    const __half2 z_s = __floats2half2_rn(p.z, p.square);
    return factors(p.xy, z_s, __floats2half2_rn(p.square - __high2float(z_s), 1), __floats2half2_rn(1, 0));
}
__device__ Factors factors_of_i(const Vec3<float>& x, float cutoff)
{
    const RoundedPlace p = rounded(x);
    const float r = sqrtf(p.square), farthest = r + cutoff, reach = fmaf(moved, r + farthest, cutoff);
    const float e = p.square - fmaf(reach, reach, inexact * fmaf(farthest, farthest, 1.0f));
    const __half2 one_e = __floats2half2_rn(1, e);
    return factors(__hmul2(p.xy, __float2half2_rn(-2)), __floats2half2_rn(-2 * p.z, 1), one_e,
                   __floats2half2_rn(e - __high2float(one_e), 0));
}

struct PruneArguments
{
    const AtomBounds* superclusters;
    GpuPairRow* rows;
    const PairWord* entries;
    PairWord* pruned;
    std::uint32_t* row_costs;
    const DeviceScalars* scalars;
    float cutoff;
};

// The factors of eight atoms, four words for each atom. A lane has one word, as multiply_halves() expects.
template <int warps>
struct alignas(sizeof(Factors)) PruneShared
{
    std::uint32_t row[cluster_size][32];             // one atom of each i cluster
    std::uint32_t entry[warps][entries_at_once][32]; // all atoms of a j cluster
    int kept;
    std::uint32_t cost;
};

// The coordinates of a row, from the middle of its supercluster. The unit is nm, or a larger one if the supercluster is so wide
// (a gas) that squares would exceed half precision. They are along the box edges until the image is chosen, then in space.
template <bool tilted>
struct RowFrame
{
    std::uint32_t x, y, z;
    Scale<tilted> scale; // nm per unit; then units of the row per unit
    float cutoff;
    Vec3<float> box, near; // if an atom is nearer than `near`, its other images are out of range

    __device__ RowFrame(const AtomBounds& own, const Scale<tilted>& nm, float cutoff_nm) : x(own.x), y(own.y), z(own.z)
    {
        constexpr float widest = 64;
        const Vec3<float> extent = nm.lean.extent({own.half_x, own.half_y, own.half_z});
        const float units_per_nm = fminf(1.0f, __fdividef(widest, fmaxf(extent.x, fmaxf(extent.y, extent.z))));
        constexpr float whole = 4294967296.0f;
        const Vec3<float> reach = nm.lean.along_edges(cutoff_nm + spreading);
        scale = {nm.x * units_per_nm, nm.y * units_per_nm, nm.z * units_per_nm, nm.lean};
        cutoff = cutoff_nm * units_per_nm;
        box = {whole * scale.x, whole * scale.y, whole * scale.z};
        near = {box.x - (own.half_x + reach.x) * units_per_nm, box.y - (own.half_y + reach.y) * units_per_nm,
                box.z - (own.half_z + reach.z) * units_per_nm};
    }
    __device__ Vec3<float> place(const Vec3<std::uint32_t>& p) const
    {
        return {offset(p.x, x, scale.x), offset(p.y, y, scale.y), offset(p.z, z, scale.z)};
    }
    // Returns the dimensions, one bit each, in which the image on the other side of the middle may be in range.
    __device__ unsigned ambiguous(const Vec3<float>& p) const
    {
        return (fabsf(p.x) > near.x ? 1u : 0u) | (fabsf(p.y) > near.y ? 2u : 0u) | (fabsf(p.z) > near.z ? 4u : 0u);
    }
    __device__ Vec3<float> image(const Vec3<float>& p, unsigned dimensions) const
    {
        return {(dimensions & 1) != 0 ? p.x - copysignf(box.x, p.x) : p.x,
                (dimensions & 2) != 0 ? p.y - copysignf(box.y, p.y) : p.y,
                (dimensions & 4) != 0 ? p.z - copysignf(box.z, p.z) : p.z};
    }
    __device__ Vec3<float> in_space(const Vec3<float>& p) const { return scale.lean.in_space(p); }
    // Returns true if images farther than those of image() may be in range. It happens in a low box, where a pair in range
    // may be more than half an edge apart, if the supercluster is so wide that its atoms are this far from its middle.
    __device__ bool reaches_farther_images() const { return near.x < 0 || near.y < 0 || near.z < 0; }
};

// Returns the tiles of four entries that have a pair in range, one byte per entry. `p`: this lane's atom, of entry lane / 8.
__device__ std::uint32_t tiles_in_range(const std::uint32_t (&row)[cluster_size], std::uint32_t (&entry)[entries_at_once][32],
                                        const Vec3<float>& p)
{
    const int lane = threadIdx.x % 32;
    warp_barrier(); // the entries before have been read
    reinterpret_cast<Factors*>(entry)[lane] = factors_of_j(p);
    warp_barrier();
    std::uint32_t signs[entries_at_once][2] = {}; // signs of the sums for the lane's two i clusters
#pragma unroll
    for (int e = 0; e < entries_at_once; e += 2)
    {
        const std::uint32_t j[2] = {entry[e][lane], entry[e + 1][lane]};
#pragma unroll
        for (int i = 0; i < cluster_size; ++i)
        {
            float sums[4];
            multiply_halves(j, row[i], sums); // products of 16 j atoms (lines) with 8 i atoms (columns)
            for (int k = 0; k < 4; ++k) { signs[e + k / 2][k % 2] |= __float_as_uint(sums[k]); }
        }
    }
    // Collects the leading bytes of the signs, one entry after the other.
    const auto bytes = [&](int c) {
        return __byte_perm(__byte_perm(signs[0][c], signs[1][c], 0x73), __byte_perm(signs[2][c], signs[3][c], 0x73), 0x5410);
    };
    const std::uint32_t mine = (bytes(0) >> 7 & 0x01010101) | (bytes(1) >> 6 & 0x02020202);
    return bits_of_lanes(mine << lane % 4 * 2);
}

// Prunes this warp's part of a row. Returns this lane's part of the cost of the row.
template <class N, bool exact, bool tilted, int warps>
__device__ std::uint32_t prune_row(const PruneArguments& a, const PositionCharge<N>* xq, const GpuPairRow& row,
                                   const RowFrame<tilted>& frame, PruneShared<warps>& s)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    constexpr int all_at_once = warps * entries_at_once;
    const int part = (row.count + all_at_once - 1) / all_at_once * entries_at_once;
    const int begin = uniform(warp * part), end = uniform(min(begin + part, row.count));
    const auto listed_at = [&](int k) { return k < end ? a.entries[row.begin + k] : 0; };
    const auto place_of = [&](unsigned slot) {
        const PositionCharge<N>& p = xq[slot];
        return frame.place({leading(p.x), leading(p.y), leading(p.z)});
    };
    const auto atom_of = [&](PairWord listed, int e) {
        const PairWord word = from_lane(listed, (e + lane / cluster_size) % 32);
        return place_of((word >> 8) * cluster_size + lane % cluster_size);
    };
    PairWord listed = listed_at(begin + lane);
    Vec3<float> p = atom_of(listed, 0); // loaded at the same time as the row's atoms

    if (threadIdx.x < supercluster_size)
    {
        const unsigned cluster = threadIdx.x / cluster_size, atom = threadIdx.x % cluster_size;
        reinterpret_cast<Factors*>(s.row[atom])[cluster] =
            factors_of_i(frame.in_space(place_of(blockIdx.x * supercluster_size + threadIdx.x)), frame.cutoff);
    }
    __syncthreads();
    std::uint32_t row_factors[cluster_size];
    for (int i = 0; i < cluster_size; ++i) { row_factors[i] = s.row[i][lane]; }

    const bool keeps_all = exact && tilted && frame.reaches_farther_images();
    std::uint32_t cost = 0;
    for (int first = begin; first < end; first += 32)
    {
        const PairWord listed_next = listed_at(first + 32 + lane);
        PairWord tiles = 0; // tiles of entries 4 * lane to 4 * lane + 3
        for (int e = 0; e < min(end - first, 32); e += entries_at_once)
        {
            const Vec3<float> next = atom_of(e + entries_at_once < 32 ? listed : listed_next, e + entries_at_once);
            const unsigned ways = exact ? bits_of_lanes(frame.ambiguous(p)) : 0;
            std::uint32_t in_range = keeps_all ? ~0u : 0;
            for (unsigned way = ways; !keeps_all; way = (way - 1) & ways) // every subset, the empty one last
            {
                in_range |= tiles_in_range(row_factors, s.entry[warp], frame.in_space(exact ? frame.image(p, way) : p));
                if (way == 0) { break; }
            }
            if (lane == e / entries_at_once) { tiles = in_range; }
            p = next;
        }
        const PairWord kept = from_lane(tiles, lane / entries_at_once) >> lane % entries_at_once * 8;
        const PairWord left = listed & (kept | ~0xffu);
        const int k = first + lane;
        const bool masked = k < min(row.masked, end), keep = !masked && (left & 0xff) != 0;
        if (masked) { a.pruned[row.begin + k] = left; }
        const std::uint32_t keeping = lanes_where(keep);
        int place = 0;
        if (lane == 0) { place = atomic_add(&s.kept, __popc(keeping)); }
        place = from_lane(place, 0) + __popc(keeping & ((1u << lane) - 1));
        if (keep) { a.pruned[row.begin + row.masked + place] = left; }
        if (masked || keep) { cost += cost_of(left, masked); }
        listed = listed_next;
    }
    return cost;
}

// Purpose        keeps the tiles that have a pair in range
// Work           by a block per row; a warp takes four entries at a time, and a lane one atom: 16 matrix products, of whose
//                elements only the signs are used
// Reads/Writes   entries, superclusters' middles, positions / pruned entries, cost of rows
// Orders         no memory accesses; entries of a row are in arbitrary order
// Requires       a list for this order of atoms
// Cost           120 instructions and half a kilobyte for four entries, some 250 instructions a warp; more for far entries of
//                rows that may reach around the box
template <class N, bool tilted, int warps>
__global__ void __launch_bounds__(32 * warps, 32 / warps)
    prune_kernel(BlockTrace tracing, PruneArguments a, const PositionCharge<N>* xq)
{
    const BlockSpan span(tracing);

    __shared__ PruneShared<warps> s;
    const GpuPairRow row = a.rows[blockIdx.x];
    const RowFrame<tilted> frame(a.superclusters[blockIdx.x], leading_scale<N, tilted>(*a.scalars), a.cutoff);
    if (row.count == 0) // the search has found no entries
    {
        if (threadIdx.x == 0) { a.row_costs[blockIdx.x] = 0; }
        return;
    }
    if (threadIdx.x == 0) { s.kept = 0, s.cost = 0; }
    const std::uint32_t of_lane =
        row.exact != 0 ? prune_row<N, true, tilted>(a, xq, row, frame, s) : prune_row<N, false, tilted>(a, xq, row, frame, s);
    const std::uint32_t of_warp = sum_of_lanes(of_lane);
    if (threadIdx.x % 32 == 0) { atomic_add(&s.cost, of_warp); }
    __syncthreads();
    if (threadIdx.x == 0)
    {
        a.rows[blockIdx.x].pruned = row.masked + s.kept;
        a.row_costs[blockIdx.x] = row.masked + s.kept > 0 ? row_cost + s.cost : 0;
    }
}

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
    const auto shares_of = [&](unsigned one, unsigned most) { return min(static_cast<unsigned>(cost / one) + 1, most); };
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
        const RowSum of_all = {sum_of_lanes(static_cast<std::uint32_t>(sum.cost)), __popc(lanes_where(sum.busy))};
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
        before += {sum_of_lanes(static_cast<std::uint32_t>(sum.cost)), __popc(lanes_where(sum.busy != 0))};
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
            for (int k = 0; k < each; ++k) { ended += __popc(lanes_where(k < here && below + end[k] <= most)); }
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
__global__ void __launch_bounds__(32 * share_warps, 3)
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

template <class N>
void prune_pair_list(GpuQueue& queue, const GpuState<N>& state, double cutoff, GpuPairList& list)
{
    const auto superclusters = static_cast<int>(state.superclusters());
    const PruneArguments arguments{list.superclusters.data(),
                                   list.rows.data(),
                                   list.entries.data(),
                                   list.pruned.data(),
                                   list.row_costs.data(),
                                   state.scalars.data(),
                                   static_cast<float>(cutoff) * margin};
    // If there are few rows, more warps per row use the GPU better.
    constexpr int of_few = 12, of_many = 4; // number of warps per row
    const bool are_few = superclusters <= 3 * queue.multiprocessors();
    const auto kernel = state.is_tilted ? (are_few ? prune_kernel<N, true, of_few> : prune_kernel<N, true, of_many>)
                                        : (are_few ? prune_kernel<N, false, of_few> : prune_kernel<N, false, of_many>);
    launch(queue, Phase::PairList, kernel, {superclusters, 32 * (are_few ? of_few : of_many)}, arguments, state.xq.data());
    launch(queue, Phase::PairList, cut_shares_kernel, one_thread_each(state.superclusters() * 32, 32 * share_warps),
           PrunedRows(list, superclusters), list.pruned.data(), list.share_count(),
           ListKind{list.part, list.is_all, list.is_beside_mesh}, list.shares.data(), list.busy_rows.data());
}

#define PARHELION_INSTANTIATE(N) template void prune_pair_list<N>(GpuQueue&, const GpuState<N>&, double, GpuPairList&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
