// SPDX-License-Identifier: Apache-2.0
// Prunes a pair list to the tiles in range at the present positions. Tensor cores find the tiles with a pair in range, at 30
// instructions an entry. Because of rounding, one tile in some hundreds is kept without need.
#include "device/gpu/atomics.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/halves.cuh"
#include "device/gpu/instructions.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "pairs/gpu/pair_costs.cuh"
#include "pairs/gpu/pair_list_gpu.hpp"
#include "pairs/gpu/pair_shares_gpu.hpp"
#include "pairs/gpu/pair_tiles.cuh"
#include "trace/phases.hpp"

namespace parhelion {

using namespace pair_costs;
using namespace pair_tiles;

namespace {

constexpr int entries_at_once = 32 / cluster_size; // entries that a warp takes at a time; each lane loads an atom of one of them

// |xi - xj|^2 - reach^2, which is negative in range, is a sum of products of factors of i and factors of j:
//
//   i   -2x  -2y  -2z   1    1    e   e'   0        e + e' = |xi|^2 - reach^2
//   j     x    y    z   s    s'   1    1   0        s + s' = |xj|^2
//
// The factors are in half precision; each square is the sum of two factors. The error is bounded: coordinates, measured
// from the middle of the supercluster, are rounded to 11 bits, and squares are those of rounded coordinates. The sum is
// thus exact for atoms that are displaced by no more than u |x| each, u = 2^-11. In a pair nearer than c, |xj| < |xi| +
// c. The displaced pair is nearer than c + u (2 |xi| + c), which is the reach. The sum in single precision, with rounded e' and
// s', is off by less than 2^-17 (|xi| + c)^2: partial sums are at most 4 (|xi| + c)^2, and each of seven additions
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
    Scale<tilted> scale; // nm per unit of positions; after the constructor: units of the row per unit of positions
    float cutoff;
    Vec3<float> box, near; // if an atom is nearer to the middle than `near`, its other images are out of range

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
    std::uint32_t signs[entries_at_once][2] = {}; // for the lane's two i clusters: the signs of the sums
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
// Cost           120 instructions and half a kilobyte for four entries, some 250 instructions a warp; more for entries far from
//                the middle of a row that may reach half a box
template <class N, bool tilted, int warps>
__global__ void PARHELION_LAUNCH_BOUNDS(32 * warps, 32 / warps)
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
    let_next_kernel_begin(); // the kernel that cuts shares: its blocks are resident when the last row has been pruned
    const std::uint32_t of_warp = sum_of_lanes(of_lane);
    if (threadIdx.x % 32 == 0) { atomic_add(&s.cost, of_warp); }
    __syncthreads();
    if (threadIdx.x == 0)
    {
        a.rows[blockIdx.x].pruned = row.masked + s.kept;
        a.row_costs[blockIdx.x] = row.masked + s.kept > 0 ? row_cost + s.cost : 0;
    }
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
    cut_shares(queue, superclusters, list);
}

#define PARHELION_INSTANTIATE(N) template void prune_pair_list<N>(GpuQueue&, const GpuState<N>&, double, GpuPairList&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
