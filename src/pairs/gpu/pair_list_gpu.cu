// SPDX-License-Identifier: Apache-2.0
#include "pairs/gpu/pair_list_gpu.hpp"

#include "base/units.hpp"
#include "device/gpu/atomics.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "pairs/gpu/bounds_gaps.cuh"
#include "pairs/gpu/pair_tiles.cuh"
#include "state/rank_slots.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

using namespace pair_tiles;

namespace {

struct SearchInput
{
    GpuCell cell;
    GpuColumns columns;
    PairPart part;
    const AtomBounds *superclusters, *clusters;
    const std::int32_t* first_supercluster;
    const std::uint8_t* zone_of_supercluster;
    const std::int32_t *global_of_slot, *slot_of_global;
    const std::int32_t *exclusion_start, *excluded, *exclusion_row, *molecule_first;
    float cutoff;

    // Returns true if pairs between these two zones are in this list (local or nonlocal).
    __device__ bool takes(int a, int b) const
    {
        const bool both_home = a == 0 && b == 0;
        return part == PairPart::Local ? both_home : !both_home && cell.claims(a, b);
    }
    // Returns true if the first of two superclusters is i, so that it has the row of the pair. Among home superclusters,
    // this alternates. With halo atoms, i is the supercluster of the higher zone, so no home supercluster needs a row.
    template <bool lone>
    __device__ bool is_i(int supercluster, int other) const
    {
        const bool is_later = (!lone && part == PairPart::Nonlocal) || (supercluster + other) % 2 != 0;
        return is_later ? other < supercluster : supercluster < other;
    }
};
struct SearchOutput
{
    GpuPairRow* rows;
    PairWord* entries;
    std::uint32_t* masks; // 16 words for each row of masks
    std::uint32_t entry_capacity, mask_capacity;
    PairListDemand* demand;
    DeviceScalars* scalars;
};

constexpr int search_threads = 256;
constexpr int most_candidates = 1024, most_plain = 2048, most_masked = 512;
constexpr int mask_words = 16;                      // 32-bit words in a row of 64 bytes
constexpr int own_rows = clusters_per_supercluster; // rows of masks for pairs within the supercluster
constexpr int excluded_clusters = 128;              // capacity of the hash table of clusters with exclusions
constexpr std::uint32_t no_key = 0xffffffff;

struct SearchShared
{
    AtomBounds i_cluster[clusters_per_supercluster];
    std::int32_t candidate[most_candidates];
    PairWord plain[most_plain];
    PairWord masked[most_masked];
    std::uint16_t masked_row[most_masked]; // index of each masked entry's row in `masks`
    std::uint32_t key[excluded_clusters];
    std::uint32_t masks[(own_rows + excluded_clusters) * mask_words];
    int candidates, plains, maskeds;
    std::uint32_t entry_begin, mask_begin;
    bool overflow, ambiguous;
};

// Returns a cluster's place in the hash table. Returns -1 if it is not there or, with `insert`, if the table is full.
__device__ int find_cluster(SearchShared& s, std::uint32_t cluster, bool insert)
{
    unsigned place = cluster * 2654435761u >> 16;
    for (int probe = 0; probe < excluded_clusters; ++probe)
    {
        place = (place + 1) % excluded_clusters;
        const std::uint32_t seen = insert ? atomic_replace(&s.key[place], no_key, cluster) : s.key[place];
        if (seen == cluster || (insert && seen == no_key)) { return static_cast<int>(place); }
        if (seen == no_key) { return -1; }
    }
    return -1;
}

// The excluded partners of an atom, as indices in its molecule, whose first atom is `first`. A filler has none.
struct ExclusionRange
{
    std::int32_t begin = 0, end = 0, first = 0;
};
__device__ ExclusionRange exclusions_of_slot(const SearchInput& in, int slot)
{
    const std::int32_t global = in.global_of_slot[slot];
    if (global < 0) { return {}; }
    const std::int32_t row = in.exclusion_row[global];
    return {in.exclusion_start[row], in.exclusion_start[row + 1], in.molecule_first[global]};
}

// Clears the excluded pairs of i atom `i` (0 .. 63) in the masks. A thread takes every search_parts-th pair.
constexpr int search_parts = search_threads / supercluster_size;
template <bool lone>
__device__ void mask_exclusions(const SearchInput& in, int supercluster, int i, const ExclusionRange& range, SearchShared& s)
{
    for (std::int32_t e = range.begin + static_cast<int>(threadIdx.x) / supercluster_size; e < range.end; e += search_parts)
    {
        const std::int32_t partner = in.slot_of_global[range.first + in.excluded[e]];
        if (partner < 0) { continue; }
        const int other = partner / supercluster_size;
        if (!lone && !in.takes(in.zone_of_supercluster[supercluster], in.zone_of_supercluster[other])) { continue; }
        int mask_row = partner % supercluster_size / cluster_size;
        if (other != supercluster)
        {
            if (!in.is_i<lone>(supercluster, other)) { continue; }
            const int place = find_cluster(s, static_cast<std::uint32_t>(partner / cluster_size), true);
            if (place < 0)
            {
                s.overflow = true;
                return;
            }
            mask_row = own_rows + place;
        }
        const int lane = i % cluster_size * j_lanes + partner % j_lanes;
        const std::uint32_t bit = 1u << (lane % 2 * 16 + partner % cluster_size / j_lanes * 8 + i / cluster_size);
        atomic_and(&s.masks[mask_row * mask_words + lane / 2], ~bit);
    }
}

// The strips of columns that intersect an interval along an axis: `count` strips from `first` on, modulo `all`.
struct StripRange
{
    int first, count, all;

    __device__ int strip(int k) const { return (first + k) % all; }
};
template <bool lone>
__device__ StripRange strips_in_reach(const SearchInput& in, int d, int offset, std::uint32_t middle, float reach,
                                      float nm_per_unit)
{
    const GpuStrips& strips = in.columns.strips[d];
    const float units = reach / nm_per_unit * margin;
    if (!lone && in.cell.is_divided(d))
    {
        const auto distance = static_cast<std::uint32_t>(fminf(units, 4294967040.0f));
        const std::uint32_t x = in.cell.unrolled(d, middle);
        const int first = strips.at(offset, x - min(x, distance)), last = strips.at(offset, x + min(~x, distance));
        return {first, last - first + 1, strips.count(offset)};
    }
    const int n = strips.first[1];
    if (2 * units * static_cast<float>(n) >= 4294967296.0f * static_cast<float>(n - 2)) { return {0, n, n}; }
    const auto distance = static_cast<std::uint32_t>(units);
    const int first = strips.around(middle - distance), last = strips.around(middle + distance);
    return {first, (last - first + n) % n + 1, n};
}

// Finds the superclusters within the cutoff of `own` for whose pairs `own` is the i side; in a local list also `own` itself. A
// warp takes up to 32 columns at a time, and a lane takes one of the superclusters in these columns.
template <bool lone, bool tilted>
__device__ void find_candidates(const SearchInput& in, int supercluster, const AtomBounds& own, const Scale<tilted>& nm,
                                SearchShared& s)
{
    constexpr int warps = search_threads / 32;
    static_assert((warps & (warps - 1)) == 0);
    const float cutoff2 = in.cutoff * in.cutoff;
    const Vec3<float> reach = nm.lean.along_edges(in.cutoff);
    const int own_zone = lone ? 0 : in.zone_of_supercluster[supercluster];
    const int lane = threadIdx.x % 32;
    int turn = threadIdx.x / 32; // warps take columns in turn, also across zones
    for (int zone = 0; zone <= own_zone; ++zone)
    {
        if (!lone && !in.takes(own_zone, zone)) { continue; }
        const StripRange x =
            strips_in_reach<lone>(in, 0, lone ? 0 : in.cell.offset_of(zone, 0), own.x, own.half_x + reach.x, nm.x);
        const StripRange y =
            strips_in_reach<lone>(in, 1, lone ? 0 : in.cell.offset_of(zone, 1), own.y, own.half_y + reach.y, nm.y);
        const int first = lone ? 0 : in.columns.first(in.cell, zone), columns = x.count * y.count;
        for (int k = turn; k < columns; k += 32 * warps)
        {
            const int mine = k + lane * warps;
            int begin = 0, count = 0;
            if (mine < columns)
            {
                const int column = first + x.strip(mine / y.count) * y.all + y.strip(mine % y.count);
                begin = in.first_supercluster[column], count = in.first_supercluster[column + 1] - begin;
            }
            int up_to = count;
            for (int distance = 1; distance < 32; distance *= 2)
            {
                const int other = from_lane_below(up_to, distance);
                if (lane >= distance) { up_to += other; }
            }
            const int before = up_to - count, all = from_lane(up_to, 31);
            for (int done = 0; done < all; done += 32)
            {
                const int place = done + lane;
                int of = 0; // the last column with at most `place` superclusters before it
                for (int step = 16; step > 0; step /= 2)
                {
                    if (from_lane(before, of + step) <= place) { of += step; }
                }
                const int t = from_lane(begin - before, of) + place;
                if (place >= all) { continue; }
                if (t != supercluster &&
                    (!in.is_i<lone>(supercluster, t) || gap2<lone>(in.cell, own, in.superclusters[t], nm, in.cutoff) >= cutoff2))
                {
                    continue;
                }
                const int candidate = atomic_add(&s.candidates, 1);
                if (candidate < most_candidates) { s.candidate[candidate] = t; }
            }
        }
        turn = (turn - columns) & (warps - 1);
    }
}

// Appends an entry for cluster `cluster` of supercluster `other`, if it is near enough.
template <bool lone, bool tilted>
__device__ void list_cluster(const SearchInput& in, int supercluster, const AtomBounds& own, int other, int cluster,
                             const Scale<tilted>& nm, SearchShared& s)
{
    const float cutoff2 = in.cutoff * in.cutoff;
    const std::uint32_t j = static_cast<std::uint32_t>(other * clusters_per_supercluster + cluster);
    const AtomBounds bounds = in.clusters[j];
    if (gap2<lone>(in.cell, own, bounds, nm, in.cutoff) >= cutoff2) { return; }
    std::uint32_t bits = 0;
    for (int c = 0; c < clusters_per_supercluster; ++c)
    {
        if (gap2<lone>(in.cell, s.i_cluster[c], bounds, nm, in.cutoff) >= cutoff2) { continue; }
        bits |= 1u << c;
        if (!lone && in.part == PairPart::Nonlocal && are_ambiguous(in.cell, s.i_cluster[c], bounds, nm, in.cutoff))
        {
            s.ambiguous = true;
        }
    }
    int mask_row = -1;
    if (other == supercluster)
    {
        bits &= (2u << cluster) - 1; // keeps i clusters up to this one: the first atom of a pair is i
        mask_row = cluster;
    }
    else
    {
        const int place = find_cluster(s, j, false);
        if (place >= 0) { mask_row = own_rows + place; }
    }
    if (bits == 0) { return; }
    if (mask_row < 0)
    {
        const int place = atomic_add(&s.plains, 1);
        if (place < most_plain) { s.plain[place] = j << 8 | bits; }
        return;
    }
    const int place = atomic_add(&s.maskeds, 1);
    if (place < most_masked) { s.masked[place] = j << 8 | bits, s.masked_row[place] = static_cast<std::uint16_t>(mask_row); }
}

// Reserves memory for the row of a supercluster, and writes the row.
__device__ void write_row(const SearchOutput& out, int supercluster, bool exact, SearchShared& s)
{
    if (threadIdx.x == 0)
    {
        if (s.overflow || s.candidates > most_candidates || s.plains > most_plain || s.maskeds > most_masked)
        {
            atomic_or(&out.scalars->flags, gpu_flag_scratch_overflow);
            s.plains = s.maskeds = 0;
        }
        if (s.ambiguous) { atomic_or(&out.scalars->flags, gpu_flag_ambiguous); }
        const auto count = static_cast<std::uint32_t>(s.plains + s.maskeds), masked = static_cast<std::uint32_t>(s.maskeds);
        s.entry_begin = atomic_add(&out.demand->entries, count);
        s.mask_begin = atomic_add(&out.demand->masks, masked);
        if (s.entry_begin + count > out.entry_capacity || s.mask_begin + masked > out.mask_capacity)
        {
            atomic_or(&out.scalars->flags, gpu_flag_list_overflow);
            s.plains = s.maskeds = 0;
        }
        out.rows[supercluster] = {static_cast<int>(s.entry_begin),
                                  s.maskeds,
                                  static_cast<int>(s.mask_begin),
                                  s.plains + s.maskeds,
                                  0,
                                  exact ? 1 : 0,
                                  supercluster};
    }
    __syncthreads();
    PairWord* const entries = out.entries + s.entry_begin;
    for (int k = threadIdx.x; k < s.maskeds; k += search_threads) { entries[k] = s.masked[k]; }
    for (int k = threadIdx.x; k < s.plains; k += search_threads) { entries[s.maskeds + k] = s.plain[k]; }
    std::uint32_t* const masks = out.masks + static_cast<std::size_t>(s.mask_begin) * mask_words;
    for (int k = threadIdx.x; k < s.maskeds * mask_words; k += search_threads)
    {
        masks[k] = s.masks[s.masked_row[k / mask_words] * mask_words + k % mask_words];
    }
}

// Purpose        builds the pair list from bounding boxes
// Work           by a block per supercluster: fills a hash table with exclusions, then finds near superclusters, then clusters
// Reads/Writes   bounds, columns, exclusions / rows, entries, masks
// Orders         no memory accesses; rows get memory from a common counter, in any order
// Requires       bounds, zones and first_supercluster of the present positions; demand zero
// Cost           about 130 superclusters and 500 clusters tested per supercluster
template <class N, bool lone, bool tilted>
__global__ void __launch_bounds__(search_threads) search_kernel(BlockTrace tracing, SearchInput in, SearchOutput out)
{
    const BlockSpan span(tracing);

    __shared__ SearchShared s;
    const int supercluster = blockIdx.x, t = threadIdx.x;
    const AtomBounds own = in.superclusters[supercluster];
    const Scale<tilted> nm = leading_scale<N, tilted>(*out.scalars);
    bool is_empty = own.half_x < 0;
    if constexpr (!lone)
    {
        const bool is_home = in.zone_of_supercluster[supercluster] == 0;
        is_empty |= is_home != (in.part == PairPart::Local);
    }
    if (is_empty)
    {
        if (t == 0) { out.rows[supercluster] = {}; }
        return;
    }
    const int i = t % supercluster_size;
    const ExclusionRange excluded = exclusions_of_slot(in, supercluster * supercluster_size + i);
    if (t < clusters_per_supercluster) { s.i_cluster[t] = in.clusters[supercluster * clusters_per_supercluster + t]; }
    for (int k = t; k < excluded_clusters; k += search_threads) { s.key[k] = no_key; }
    for (int k = t; k < (own_rows + excluded_clusters) * mask_words; k += search_threads) { s.masks[k] = ~0u; }
    if (t == 0) { s.candidates = s.plains = s.maskeds = 0, s.overflow = s.ambiguous = false; }
    __syncthreads();
    mask_exclusions<lone>(in, supercluster, i, excluded, s);
    find_candidates<lone, tilted>(in, supercluster, own, nm, s);
    __syncthreads();
    const int clusters = min(s.candidates, most_candidates) * clusters_per_supercluster;
    for (int k = t; k < clusters; k += search_threads)
    {
        list_cluster<lone, tilted>(in, supercluster, own, s.candidate[k / clusters_per_supercluster],
                                   k % clusters_per_supercluster, nm, s);
    }
    __syncthreads();
    const float half_unit = 2147483648.0f;
    const Vec3<float> reach = nm.lean.along_edges(in.cutoff + spreading);
    const bool exact = own.half_x + reach.x >= half_unit * nm.x || own.half_y + reach.y >= half_unit * nm.y ||
                       own.half_z + reach.z >= half_unit * nm.z;
    write_row(out, supercluster, exact, s);
}

} // namespace

template <class N>
void reserve_pair_list(GpuQueue& queue, const GpuState<N>& state, const Box<double>& box, double cutoff, PairPart part,
                       GpuPairList& list, const PairSharing& sharing)
{
    const std::size_t superclusters = state.superclusters();
    list.superclusters.resize(superclusters), list.clusters.resize(superclusters * clusters_per_supercluster);
    list.rows.resize(superclusters), list.row_costs.resize(superclusters), list.busy_rows.resize(superclusters);
    list.demand.resize(1);
    const int of_gpu = queue.multiprocessors() * sharing.of_multiprocessor / (part == PairPart::Local ? 1 : 2);
    list.is_beside_mesh = sharing.is_beside_mesh;
    list.shares.resize(static_cast<std::size_t>(of_gpu) + 1);
    // Estimates a row as half of the clusters within the cutoff plus the edge of a cube of 64 atoms. Real rows are shorter.
    const double density = static_cast<double>(state.slot_of_global.size()) / box.volume();
    // In a tilted box superclusters are tilted, too, and therefore longer.
    const Vec3<double> shear = box.shear();
    const double leaning = 1 + (std::abs(shear.x) + std::abs(shear.y) + std::abs(shear.z)) / 3;
    const double edge = leaning * std::cbrt(supercluster_size / density), reach = cutoff + edge;
    const double neighbours = std::min(density * (4.0 / 3 * units::pi * reach * reach * reach), static_cast<double>(state.slots));
    const auto entries = static_cast<std::size_t>(0.5 * neighbours / cluster_size) + 2 * clusters_per_supercluster;
    list.entries.resize(superclusters * entries), list.pruned.resize(superclusters * entries);
    list.masks.resize(superclusters * 64 * masks_per_entry);
    list.demand.clear(queue);
    // The host may read whole arrays, including padding and dropped rows, which kernels never write.
    list.rows.clear(queue), list.busy_rows.clear(queue), list.pruned.clear(queue), list.shares.clear(queue);
}

void enlarge_pair_list(GpuQueue& queue, GpuPairList& list)
{
    const PairListDemand demand = list.demand.to_vector(queue)[0];
    const auto enough = [](std::size_t have, std::size_t need) { return need > have ? need + need / 2 : have; };
    const std::uint32_t entries = std::max(demand.entries, demand.most_entries),
                        masks = std::max(demand.masks, demand.most_masks);
    list.entries.resize(enough(list.entries.size(), entries)), list.pruned.resize(list.entries.size());
    list.pruned.clear(queue);
    list.masks.resize(masks_per_entry * enough(list.masks.size() / masks_per_entry, masks));
}

template <class N>
void build_pair_list(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell, const GpuExclusions& exclusions, double cutoff,
                     PairPart part, GpuPairList& list)
{
    const auto superclusters = static_cast<int>(state.superclusters());
    PARHELION_EXPECTS(state.slots / cluster_size <= most_gpu_clusters);
    PARHELION_EXPECTS(list.rows.size() == state.superclusters());
    list.part = part, list.is_all = cell.is_everything() && part == PairPart::Local;
    find_bounds(queue, state, cell, list);
    const SearchInput in{cell,
                         state.columns,
                         part,
                         list.superclusters.data(),
                         list.clusters.data(),
                         state.first_supercluster.data(),
                         state.zone_of_supercluster.data(),
                         state.global_of_slot.data(),
                         state.slot_of_global.data(),
                         exclusions.start.data(),
                         exclusions.excluded.data(),
                         exclusions.row.data(),
                         exclusions.molecule_first.data(),
                         static_cast<float>(cutoff) * margin};
    const SearchOutput out{list.rows.data(),
                           list.entries.data(),
                           reinterpret_cast<std::uint32_t*>(list.masks.data()),
                           static_cast<std::uint32_t>(list.entries.size()),
                           static_cast<std::uint32_t>(list.masks.size() / masks_per_entry),
                           list.demand.data(),
                           state.scalars.data()};
    const auto kernel = state.is_tilted ? (list.is_all ? search_kernel<N, true, true> : search_kernel<N, false, true>)
                                        : (list.is_all ? search_kernel<N, true, false> : search_kernel<N, false, false>);
    launch(queue, Phase::PairList, kernel, {superclusters, search_threads}, in, out);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void reserve_pair_list<N>(GpuQueue&, const GpuState<N>&, const Box<double>&, double, PairPart, GpuPairList&,        \
                                       const PairSharing&);                                                                      \
    template void build_pair_list<N>(GpuQueue&, GpuState<N>&, const GpuCell&, const GpuExclusions&, double, PairPart,            \
                                     GpuPairList&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
