// SPDX-License-Identifier: Apache-2.0
// Pruning: what is left of a pair list at the present positions, and its division into shares.
#include "device/block_trace.cuh"
#include "device/launch.cuh"
#include "pairs/pair_list_gpu.hpp"
#include "pairs/pair_tiles.cuh"

namespace parhelion {

using namespace pair_tiles;

namespace {

constexpr int prune_warps = 12; // of a row
// Costs in the force kernel, in twentieths of a plain tile.
constexpr std::uint32_t row_cost = 100;
__device__ std::uint32_t cost_of(PairWord word, bool masked)
{
    return (masked ? 60 : 45) + (masked ? 25 : 20) * static_cast<std::uint32_t>(__popc(word & 0xff));
}

constexpr int entries_at_once = 32 / clusters_per_supercluster; // of a warp: each lane looks at a tile of one of them
// Boxes shrunk to this part of their size are in range: so is a pair of atoms, but for one tile in 300.
constexpr float core = 0.4f;
// Superclusters no wider (half, nm): squares of their atoms' coordinates are exact to much less than the margin of the cutoff.
constexpr float most_spread = 1;

struct PruneArguments
{
    const AtomBounds *superclusters, *clusters;
    GpuPairRow* rows;
    const PairWord* entries;
    PairWord* pruned;
    std::uint32_t* row_costs;
    const DeviceScalars* scalars;
    float cutoff2;
};

// An i atom. In an exact row leading bits of its place. Else coordinates from the middle of the supercluster, nm, times -2, and
// what the cutoff's square exceeds theirs by: so a distance is three multiplications.
struct alignas(16) RowAtom
{
    std::uint32_t x, y, z;
    float limit;
};
struct PruneShared
{
    RowAtom atom[supercluster_size];
    int kept;
    std::uint32_t cost;
};
// A j atom: the same, not multiplied, and the square.
struct EntryAtom
{
    std::uint32_t x, y, z;
    float square;
};
__device__ EntryAtom from_lane(const EntryAtom& atom, int lane)
{
    return {__shfl_sync(all_lanes, atom.x, lane), __shfl_sync(all_lanes, atom.y, lane), __shfl_sync(all_lanes, atom.z, lane),
            __shfl_sync(all_lanes, atom.square, lane)};
}

template <bool exact>
__device__ EntryAtom atom_at(const Vec3<std::uint32_t>& place, const AtomBounds& own, const Scale& nm)
{
    if (exact) { return {place.x, place.y, place.z, 0}; }
    const float x = offset(place.x, own.x, nm.x), y = offset(place.y, own.y, nm.y), z = offset(place.z, own.z, nm.z);
    return {__float_as_uint(x), __float_as_uint(y), __float_as_uint(z), fmaf(x, x, fmaf(y, y, z * z))};
}
template <bool exact>
__device__ RowAtom row_atom(const EntryAtom& atom, float cutoff2)
{
    if (exact) { return {atom.x, atom.y, atom.z, cutoff2}; }
    const auto twice = [](std::uint32_t x) { return __float_as_uint(-2 * __uint_as_float(x)); };
    return {twice(atom.x), twice(atom.y), twice(atom.z), cutoff2 - atom.square};
}
// Comparable with i.limit.
template <bool exact>
__device__ float distance2(const RowAtom& i, const EntryAtom& j, const Scale& nm)
{
    if (exact)
    {
        const float x = offset(i.x, j.x, nm.x), y = offset(i.y, j.y, nm.y), z = offset(i.z, j.z, nm.z);
        return fmaf(x, x, fmaf(y, y, z * z));
    }
    const auto product = [](std::uint32_t a, std::uint32_t b, float sum) {
        return fmaf(__uint_as_float(a), __uint_as_float(b), sum);
    };
    return product(i.x, j.x, product(i.y, j.y, product(i.z, j.z, j.square)));
}

// What a lane has of an entry: the bounds of its cluster, and one of its atoms.
struct EntrySide
{
    AtomBounds bounds;
    Vec3<std::uint32_t> place;
};
template <class N>
__device__ EntrySide side_of(PairWord word, const AtomBounds* clusters, const PositionCharge<N>* xq)
{
    const PositionCharge<N>& p = xq[(word >> 8) * cluster_size + threadIdx.x % cluster_size];
    return {clusters[word >> 8], {leading(p.x), leading(p.y), leading(p.z)}};
}

// The tiles of some entries, a bit for each lane's: as their boxes have it.
struct BoxedTiles
{
    std::uint32_t open, certain; // atoms decide; stays
};
__device__ BoxedTiles tiles_by_boxes(bool is_listed, const AtomBounds& i, const AtomBounds& j, const Scale& nm, float cutoff2)
{
    const float apart[3] = {fabsf(offset(i.x, j.x, nm.x)), fabsf(offset(i.y, j.y, nm.y)), fabsf(offset(i.z, j.z, nm.z))};
    const float half[3] = {i.half_x + j.half_x, i.half_y + j.half_y, i.half_z + j.half_z};
    float of_boxes = 0, of_cores = 0; // squared distances
    for (int d = 0; d < 3; ++d)
    {
        const float boxes = fmaxf(apart[d] - half[d], 0.0f), cores = fmaxf(fmaf(-core, half[d], apart[d]), 0.0f);
        of_boxes = fmaf(boxes, boxes, of_boxes), of_cores = fmaf(cores, cores, of_cores);
    }
    const std::uint32_t certain = __ballot_sync(all_lanes, is_listed && of_cores < cutoff2);
    const bool is_open = is_listed && of_boxes < cutoff2 && !(of_cores < cutoff2);
    // A ballot, of which the compiler knows that all lanes have the same.
    return {__reduce_or_sync(all_lanes, is_open ? 1u << threadIdx.x % 32 : 0u), certain};
}

// Those of the open tiles of some entries that have a pair in range. `atom`: of the lane's entry.
template <bool exact>
__device__ std::uint32_t tiles_by_atoms(const PruneShared& s, std::uint32_t open, const EntryAtom& atom, const Scale& nm)
{
    const int lane = threadIdx.x % 32;
    const RowAtom* const row_atoms = s.atom + i_of_lane(lane);
    std::uint32_t in_range = 0;
    while (open != 0)
    {
        const int entry = (__ffs(open) - 1) & ~(clusters_per_supercluster - 1); // its first bit, and first lane
        const EntryAtom j[2] = {from_lane(atom, entry + j_of_lane(lane)), from_lane(atom, entry + j_of_lane(lane) + j_lanes)};
        const std::uint32_t tiles = open >> entry;
        std::uint32_t bits = 0;
#pragma unroll
        for (int c = 0; c < clusters_per_supercluster; ++c)
        {
            if ((tiles >> c & 1) == 0) { continue; }
            const RowAtom i = row_atoms[c * cluster_size];
            const float least = fminf(distance2<exact>(i, j[0], nm), distance2<exact>(i, j[1], nm));
            if (__any_sync(all_lanes, least < i.limit)) { bits |= 1u << c; }
        }
        in_range |= bits << entry;
        open &= ~(0xffu << entry);
    }
    return in_range;
}

// Prunes this warp's part of a row. Returns the lane's share of the cost.
template <class N, bool exact>
__device__ std::uint32_t prune_row(const PruneArguments& a, const PositionCharge<N>* xq, const GpuPairRow& row,
                                   const AtomBounds& own, PruneShared& s)
{
    const int lane = threadIdx.x % 32, mine = lane / clusters_per_supercluster, c = lane % clusters_per_supercluster;
    const Scale nm = leading_scale<N>(*a.scalars);
    const AtomBounds i = a.clusters[blockIdx.x * clusters_per_supercluster + c];
    if (threadIdx.x < supercluster_size)
    {
        const PositionCharge<N>& p = xq[blockIdx.x * supercluster_size + threadIdx.x];
        const EntryAtom atom = atom_at<exact>({leading(p.x), leading(p.y), leading(p.z)}, own, nm);
        s.atom[threadIdx.x] = row_atom<exact>(atom, a.cutoff2);
    }
    __syncthreads();
    constexpr int all_at_once = prune_warps * entries_at_once;
    const int part = (row.count + all_at_once - 1) / all_at_once * entries_at_once;
    const int begin = static_cast<int>(threadIdx.x) / 32 * part, end = min(begin + part, row.count);
    std::uint32_t cost = 0;
    for (int first = begin; first < end; first += 32)
    {
        const int k = first + lane;
        const PairWord listed = k < end ? a.entries[row.begin + k] : 0;
        const auto word_at = [&](int e) { return __shfl_sync(all_lanes, listed, (e + mine) % 32); };
        PairWord word = word_at(0), left = listed & ~0xffu;
        EntrySide side = side_of(word, a.clusters, xq);
        for (int e = 0; e < min(end - first, 32); e += entries_at_once)
        {
            const PairWord next_word = word_at(e + entries_at_once);
            const EntrySide next_side = side_of(next_word, a.clusters, xq);
            const BoxedTiles tiles = tiles_by_boxes((word >> c & 1) != 0, i, side.bounds, nm, a.cutoff2);
            const std::uint32_t kept =
                tiles.certain | tiles_by_atoms<exact>(s, tiles.open, atom_at<exact>(side.place, own, nm), nm);
            const int place = lane - e;
            if (place >= 0 && place < entries_at_once) { left |= kept >> place * clusters_per_supercluster & 0xff; }
            word = next_word, side = next_side;
        }
        const bool masked = k < min(row.masked, end), keep = !masked && (left & 0xff) != 0;
        if (masked) { a.pruned[row.begin + k] = left; }
        const std::uint32_t keeping = __ballot_sync(all_lanes, keep);
        int place = 0;
        if (lane == 0) { place = atomicAdd(&s.kept, __popc(keeping)); }
        place = __shfl_sync(all_lanes, place, 0) + __popc(keeping & ((1u << lane) - 1));
        if (keep) { a.pruned[row.begin + row.masked + place] = left; }
        if (masked || keep) { cost += cost_of(left, masked); }
    }
    return cost;
}

// Purpose        keep the tiles that have a pair in range
// Work           a block per row; a warp takes four entries at a time, looks at the boxes of a tile in each lane, and tests what
//                these leave open tile by tile, two pairs a lane
// Reads/Writes   entries, bounds, positions / pruned entries, cost of rows
// Orders         entries of a row come in any order
// Requires       a list of this order of atoms, bounds of the present positions
// Cost           about 80 instructions for four entries, 50 for one with open tiles, 13 for each of these: a third of all
template <class N>
__global__ void __launch_bounds__(32 * prune_warps, 3)
    prune_kernel(BlockTrace tracing, PruneArguments a, const PositionCharge<N>* xq)
{
    const BlockSpan span(tracing);

    __shared__ PruneShared s;
    const GpuPairRow row = a.rows[blockIdx.x];
    if (row.count == 0) // as the search has left it
    {
        if (threadIdx.x == 0) { a.row_costs[blockIdx.x] = 0; }
        return;
    }
    if (threadIdx.x == 0) { s.kept = 0, s.cost = 0; }
    const AtomBounds own = a.superclusters[blockIdx.x];
    const bool exact = row.exact != 0 || fmaxf(own.half_x, fmaxf(own.half_y, own.half_z)) > most_spread;
    const std::uint32_t of_lane = exact ? prune_row<N, true>(a, xq, row, own, s) : prune_row<N, false>(a, xq, row, own, s);
    const std::uint32_t of_warp = __reduce_add_sync(all_lanes, of_lane);
    if (threadIdx.x % 32 == 0) { atomicAdd(&s.cost, of_warp); }
    __syncthreads();
    if (threadIdx.x == 0)
    {
        a.rows[blockIdx.x].pruned = row.masked + s.kept;
        a.row_costs[blockIdx.x] = row.masked + s.kept > 0 ? row_cost + s.cost : 0;
    }
}

// Into how many shares, and are these smaller from one to the next? Warps do not end together: what is left for those that are
// early had better be little. That needs more shares than run at once, and a share costs by itself as much as some tiles; so a
// small list has no more, and they are equal, unless pairs of halo atoms run beside it: these come first, and make room by and
// by.
struct Division
{
    unsigned used;
    bool shrinking;
};
__device__ Division divide(unsigned long long cost, unsigned shares, PairPart part, bool is_all)
{
    constexpr unsigned of_two_rounds = 1200, of_nonlocal = 800; // twentieths of a tile
    if (part == PairPart::Nonlocal) { return {min(static_cast<unsigned>(cost / of_nonlocal) + 1, shares), false}; }
    const bool is_small = cost / of_two_rounds < shares;
    return is_all && is_small ? Division{shares / 2, false} : Division{shares, true};
}
// What comes before share s. If they shrink, a straight line leads from the first size to the last, 13 : 3.
__device__ unsigned long long cost_before_share(unsigned s, const Division& division, unsigned long long cost)
{
    if (s >= division.used) { return cost; }
    if (!division.shrinking) { return cost * s / division.used; }
    constexpr double last = 0.3, whole = 0.5 + last; // of what sizes shrink by
    const double part = static_cast<double>(s) / division.used;
    return static_cast<unsigned long long>(static_cast<double>(cost) * (part * (1 + last - part / 2) / whole));
}

__device__ std::uint32_t from_below(std::uint32_t value, int distance) { return __shfl_up_sync(all_lanes, value, distance); }

// Of some rows: their cost, and how many have entries.
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
__device__ RowSum from_lane(const RowSum& sum, int lane)
{
    return {__shfl_sync(all_lanes, sum.cost, lane), __shfl_sync(all_lanes, sum.busy, lane)};
}
__device__ RowSum from_below(const RowSum& sum, int distance)
{
    return {__shfl_up_sync(all_lanes, sum.cost, distance), __shfl_up_sync(all_lanes, sum.busy, distance)};
}

// The sum over this lane and those below it.
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

// The pruned rows of a list. Every block adds them all up, as nothing but a launch would let it wait for another: in as many
// parts as it has warps, each of so many times 32 rows.
constexpr int share_warps = 16;
struct PrunedRows
{
    const GpuPairRow* row;
    const std::uint32_t* cost;
    int count;

    __device__ int part() const { return (count + 32 * share_warps - 1) / (32 * share_warps) * 32; }
    __device__ RowSum sum(int r) const
    {
        const std::uint32_t c = r < count ? cost[r] : 0;
        return {c, c > 0 ? 1 : 0};
    }
};

// Of the lane's part and those before it; of all in the last lanes. For all threads of a block.
__device__ RowSum up_to_part(const PrunedRows& rows)
{
    __shared__ RowSum of_part[share_warps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = warp * rows.part();
    RowSum sum{};
#pragma unroll 4
    for (int k = lane; k < rows.part(); k += 32) { sum += rows.sum(first + k); }
    sum = up_to_lane(sum);
    if (lane == 31) { of_part[warp] = sum; }
    __syncthreads();
    return up_to_lane(lane < share_warps ? of_part[lane] : RowSum{});
}

// The row in which a cost is reached, and what comes before it. Precondition: 0 < cost <= that of all.
struct FoundRow
{
    int row;
    RowSum before;
};
__device__ FoundRow find_row(const PrunedRows& rows, const RowSum& parts, unsigned long long cost)
{
    const int lane = threadIdx.x % 32, parts_passed = __popc(__ballot_sync(all_lanes, parts.cost < cost));
    RowSum before = parts_passed > 0 ? from_lane(parts, parts_passed - 1) : RowSum{};
    for (int first = parts_passed * rows.part();; first += 32)
    {
        RowSum sum = up_to_lane(rows.sum(first + lane));
        sum += before;
        const int passed = __popc(__ballot_sync(all_lanes, sum.cost < cost));
        if (passed > 0) { before = from_lane(sum, passed - 1); }
        if (passed < 32) { return {first + passed, before}; }
    }
}

// How many entries of a row end within `cost`.
__device__ int entries_within(const GpuPairRow& row, const PairWord* pruned, std::uint32_t cost)
{
    constexpr int each = 4; // of a lane at a time
    const int lane = threadIdx.x % 32;
    std::uint32_t before = row_cost;
    int within = 0;
    for (int first = lane * each; __any_sync(all_lanes, first < row.pruned && before <= cost); first += 32 * each)
    {
        std::uint32_t of_entry[each], sum = 0;
        for (int k = 0; k < each; ++k)
        {
            const int e = first + k;
            of_entry[k] = e < row.pruned ? cost_of(pruned[row.begin + e], e < row.masked) : 0;
            sum += of_entry[k];
        }
        const std::uint32_t up_to = up_to_lane(sum);
        std::uint32_t end = before + up_to - sum;
        for (const std::uint32_t c : of_entry)
        {
            end += c;
            if (c > 0 && end <= cost) { ++within; }
        }
        before += __shfl_sync(all_lanes, up_to, 31);
    }
    return __reduce_add_sync(all_lanes, within);
}

// By a warp: the share that begins behind so much cost, at the earliest in the first row that has entries. Precondition: there is
// one.
__device__ PairShare share_from(const PrunedRows& rows, const RowSum& parts, const PairWord* pruned, unsigned long long cost)
{
    const unsigned long long reached = max(cost, 1ull);
    const FoundRow found = find_row(rows, parts, reached);
    const GpuPairRow row = rows.row[found.row];
    return {row, {found.before.busy, entries_within(row, pruned, static_cast<std::uint32_t>(reached - found.before.cost))}};
}

// By a warp: those of 32 rows that have entries, to behind all such before.
__device__ void gather_rows(const PrunedRows& rows, const RowSum& parts, int first, GpuPairRow* busy_rows)
{
    const int lane = threadIdx.x % 32, parts_passed = first / rows.part();
    int before = parts_passed > 0 ? __shfl_sync(all_lanes, parts.busy, parts_passed - 1) : 0;
    for (int r = parts_passed * rows.part(); r < first; r += 32)
    {
        before += __popc(__ballot_sync(all_lanes, rows.sum(r + lane).busy));
    }
    const bool is_busy = rows.sum(first + lane).busy != 0;
    const int place = before + __popc(__ballot_sync(all_lanes, is_busy) & ((1u << lane) - 1));
    if (is_busy) { busy_rows[place] = rows.row[first + lane]; }
}

// Purpose        divide the list into shares, and gather the rows that have entries
// Work           every block adds up what all rows cost; then a warp per share and one for the end, which finds its row and its
//                entry, 128 at a time; and a warp per 32 rows to gather
// Reads/Writes   rows, their costs, pruned entries / shares, busy_rows
// Orders         nothing: stream order alone
// Requires       pruned rows
// Cost           latency: some five loads, one after another, and four bytes a row and block
__global__ void __launch_bounds__(32 * share_warps, 3)
    cut_shares_kernel(BlockTrace tracing, PrunedRows rows, const PairWord* pruned, int shares, PairPart part, bool is_all,
                      PairShare* share, GpuPairRow* busy_rows)
{
    const BlockSpan span(tracing);

    const RowSum parts = up_to_part(rows);
    const int warp = blockIdx.x * share_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp <= shares)
    {
        const unsigned long long all = __shfl_sync(all_lanes, parts.cost, 31);
        const Division division = divide(all, static_cast<unsigned>(shares), part, is_all);
        const unsigned long long before = cost_before_share(static_cast<unsigned>(warp), division, all);
        const PairShare mine = all > 0 ? share_from(rows, parts, pruned, before) : PairShare{};
        if (lane == 0) { share[warp] = mine; }
        return;
    }
    const int first = (warp - shares - 1) * 32;
    if (first < rows.count) { gather_rows(rows, parts, first, busy_rows); }
}

} // namespace

template <class N>
void prune_pair_list(GpuQueue& queue, const GpuState<N>& state, double cutoff, GpuPairList& list)
{
    const auto superclusters = static_cast<int>(state.superclusters());
    const float reach = static_cast<float>(cutoff) * margin;
    const PruneArguments arguments{list.superclusters.data(), list.clusters.data(),  list.rows.data(),     list.entries.data(),
                                   list.pruned.data(),        list.row_costs.data(), state.scalars.data(), reach * reach};
    launch(queue, Phase::PairList, prune_kernel<N>, {superclusters, 32 * prune_warps}, arguments, state.xq.data());
    const std::size_t warps = list.shares.size() + (state.superclusters() + 31) / 32;
    launch(queue, Phase::PairList, cut_shares_kernel, one_thread_each(warps * 32, 32 * share_warps),
           PrunedRows{list.rows.data(), list.row_costs.data(), superclusters}, list.pruned.data(), list.share_count(), list.part,
           list.is_all, list.shares.data(), list.busy_rows.data());
}

#define PARHELION_INSTANTIATE(N) template void prune_pair_list<N>(GpuQueue&, const GpuState<N>&, double, GpuPairList&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
