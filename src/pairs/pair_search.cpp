// SPDX-License-Identifier: Apache-2.0
// The pair search, one vector of candidate clusters at a time. It selects columns by distance in xy, a range of
// each column by z, and clusters by their bounding boxes. Then it tests the atoms of the remaining clusters.
#include "pairs/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pairs/pair_search.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "pairs/atom_block-inl.hpp"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace parhelion::pair_search {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, cluster_size>;
using DU = hn::Rebind<std::uint32_t, DF>;
using DI = hn::Rebind<std::int32_t, DF>;
using VF = hn::Vec<DF>;

// The cluster whose partners are searched: its bounding box and position.
struct Centre
{
    std::int32_t cluster;
    std::uint32_t x[3];
    float half[3];
};

Centre make_centre(const Input& in, std::int32_t cluster)
{
    Centre centre;
    centre.cluster = cluster;
    const auto rank = static_cast<std::size_t>(in.grid->rank_of_cluster[static_cast<std::size_t>(cluster)]);
    for (int d = 0; d < 3; ++d) { centre.x[d] = in.grid->centre[d][rank], centre.half[d] = in.grid->half[d][rank]; }
    return centre;
}

// Says which of two clusters lists their pairs: the one whose column is behind, in x or, for equal x, in y. In the same
// column, or in columns half a box apart, it is the lower index if the sum of the two is even, else the higher index.
enum class Side
{
    Behind,
    Ahead,
    Undecided
};
inline Side side(int from, int to, int n)
{
    const int d = to >= from ? to - from : to - from + n;
    if (d == 0 || 2 * d == n) { return Side::Undecided; }
    return 2 * d < n ? Side::Ahead : Side::Behind;
}
inline Side side(const ColumnGrid& grid, std::int32_t from, std::int32_t to)
{
    const Side in_x = side(from / grid.ny, to / grid.ny, grid.nx);
    return in_x != Side::Undecided ? in_x : side(from % grid.ny, to % grid.ny, grid.ny);
}
inline bool lists_undecided(std::int32_t i, std::int32_t j) { return (j > i) == (((i + j) & 1) == 0); }
inline bool lists(const ClusterGrid& grid, std::int32_t i, std::int32_t j)
{
    const Side s = side(grid.columns, grid.column_of_cluster[static_cast<std::size_t>(i)],
                        grid.column_of_cluster[static_cast<std::size_t>(j)]);
    return s == Side::Undecided ? lists_undecided(i, j) : s == Side::Ahead;
}

// Tests `count` clusters from the k-th on, in the order of the search grid, at most one for each lane. Appends to
// `candidates` the clusters whose boxes are near enough. Returns the new end of the candidates.
HWY_INLINE std::int32_t* append_near(const Input& in, const Centre& centre, std::int32_t k, std::int32_t count,
                                     std::int32_t* candidates)
{
    const DF d;
    const DU du;
    const DI di;
    const ClusterGrid& grid = *in.grid;
    const VF zero = hn::Zero(d);
    VF distance[3], r2 = zero;
    for (int dim = 0; dim < 3; ++dim)
    {
        const auto units = hn::BitCast(di, hn::Sub(hn::LoadU(du, grid.centre[dim].data() + k), hn::Set(du, centre.x[dim])));
        distance[dim] = hn::Mul(hn::ConvertTo(d, units), hn::Set(d, in.nm_per_unit[dim]));
    }
    if (in.is_tilted) { lean(d, in.shear, distance); }
    // In a tilted box the distance along x depends on the image that is chosen along z. The image with the nearest cluster centre
    // also has the nearest atoms if the bounding boxes of both clusters are small. If they are not, the cluster is a candidate.
    auto is_sure = hn::Eq(zero, zero);
    for (int dim = 0; dim < 3; ++dim)
    {
        const VF halves = hn::Add(hn::LoadU(d, grid.half[dim].data() + k), hn::Set(d, centre.half[dim]));
        if (in.is_tilted) { is_sure = hn::And(is_sure, hn::Lt(halves, hn::Set(d, 0.499f * in.heights[dim] - in.cutoff))); }
        const VF gap = hn::Max(zero, hn::Sub(hn::Abs(distance[dim]), halves));
        r2 = hn::MulAdd(gap, gap, r2);
    }
    const auto may_be_near = hn::Or(hn::Lt(r2, hn::Set(d, in.cutoff * in.cutoff)), hn::Not(is_sure));
    const auto near = hn::And(may_be_near, hn::FirstN(d, static_cast<std::size_t>(count)));
    // CompressStore is avoided: with a memory operand the instruction is microcoded on some processors.
    hn::StoreU(hn::Compress(hn::LoadU(di, grid.cluster.data() + k), hn::RebindMask(di, near)), di, candidates);
    return candidates + hn::CountTrue(d, near);
}

struct Range
{
    std::int32_t next;        // first cluster that was not tested
    std::int32_t* candidates; // end of the candidates
};
// Appends clusters from `k` on, in whole vectors, up to the first whose centre is above `high`, or to `end`.
HWY_INLINE Range append_range(const Input& in, const Centre& centre, std::int32_t k, std::int32_t end, std::uint32_t high,
                              std::int32_t* candidates)
{
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(DF()));
    const std::uint32_t* z = in.grid->centre[2].data();
    for (; k < end && z[k] <= high; k += lanes) { candidates = append_near(in, centre, k, std::min(lanes, end - k), candidates); }
    return {k, candidates};
}

// Appends candidates of a column, whose squared distance in xy is `gap2` (nm^2), by their z. Returns the end of the candidates.
HWY_INLINE std::int32_t* append_column(const Input& in, const Centre& centre, std::int32_t column_index, float gap2,
                                       std::int32_t& first, std::int32_t* candidates)
{
    const ClusterGrid& grid = *in.grid;
    const auto column = static_cast<std::size_t>(column_index);
    const std::int32_t begin = grid.begin[column], end = grid.begin[column + 1];
    const float dz = (std::sqrt(in.cutoff * in.cutoff - gap2) + grid.column_half[column].z + centre.half[2]) * (1 + 1e-5f);
    if (2 * dz >= 0.999f * in.heights.z) { return append_range(in, centre, begin, end, ~0u, candidates).candidates; }
    const auto units = static_cast<std::uint32_t>(dz / in.nm_per_unit.z) + 2;
    const std::uint32_t low = centre.x[2] - units, high = centre.x[2] + units;
    const std::uint32_t* z = grid.centre[2].data();
    while (first < end && z[first] < low) { ++first; }
    while (first > begin && z[first - 1] >= low) { --first; }
    if (low <= high) { return append_range(in, centre, first, end, high, candidates).candidates; }
    const Range below = append_range(in, centre, begin, end, high, candidates); // the range wraps around the box
    return append_range(in, centre, std::max(first, below.next), end, ~0u, below.candidates).candidates;
}

// The cells in one dimension whose clusters may reach the centre: the first cell (may be negative) and the number of cells.
struct CellRange
{
    int first, count;
};
inline CellRange cell_range(std::uint32_t x, int n, float height, float distance)
{
    const int reach = static_cast<int>(std::min(distance / height * static_cast<float>(n), static_cast<float>(n))) + 1;
    if (2 * reach + 1 >= n) { return {0, n}; }
    return {ColumnGrid::cell(x, n) - reach, 2 * reach + 1};
}

// Fills scratch.masks with the clusters that have an atom excluded from one of `cluster`. Returns the masks of the diagonal.
Scratch::Masks find_exclusions(const Input& in, std::int32_t cluster, Scratch& scratch)
{
    Scratch::Masks diagonal{cluster, {diagonal_pairs(0), diagonal_pairs(1)}};
    const Exclusions& ex = *in.exclusions;
    for (int lane = 0; lane < cluster_size; ++lane)
    {
        const auto slot = static_cast<std::size_t>(cluster * cluster_size + lane);
        if (ex.row[slot] < 0) { continue; }
        const auto row = static_cast<std::size_t>(ex.row[slot]);
        const int half = lane / half_cluster_size;
        const int shift = lane % half_cluster_size * cluster_size;
        for (std::int32_t e = ex.start[row]; e < ex.start[row + 1]; ++e)
        {
            const std::int32_t other = in.slot_of_global[ex.molecule_first[slot] + ex.excluded[static_cast<std::size_t>(e)]];
            if (other < 0) { continue; }
            const std::int32_t j = other / cluster_size;
            const std::uint32_t bit = 1u << (shift + other % cluster_size);
            if (j == cluster) { diagonal.interacts[half] &= ~bit; }
            else if (lists(*in.grid, cluster, j))
            {
                std::int32_t& index = scratch.mask_index[static_cast<std::size_t>(j)];
                if (index < 0)
                {
                    index = static_cast<std::int32_t>(scratch.masks.size());
                    scratch.masks.push_back({j, {~0u, ~0u}});
                }
                scratch.masks[static_cast<std::size_t>(index)].interacts[half] &= ~bit;
            }
        }
    }
    return diagonal;
}

// Computes squared distances, nm^2, between the centre's box and the columns of a range, between faces in one dimension.
void find_gaps(const CellRange& range, std::uint32_t x, int n, float height, float half_widths, std::vector<float>& squared)
{
    const float nm_per_unit = 0x1p-32f * height;
    squared.resize(static_cast<std::size_t>(range.count));
    for (int k = 0; k < range.count; ++k)
    {
        const auto cell = static_cast<std::uint64_t>((range.first + k + n) % n);
        const auto middle = static_cast<std::uint32_t>((2 * cell + 1) * 0x80000000u / static_cast<std::uint64_t>(n));
        const float distance = std::abs(static_cast<float>(static_cast<std::int32_t>(middle - x))) * nm_per_unit;
        const float gap = std::max(0.0f, distance - half_widths);
        squared[static_cast<std::size_t>(k)] = gap * gap;
    }
}

// Finds the clusters near the centre, by boxes, whose pairs the centre lists. Returns the end of the candidates.
std::int32_t* find_candidates(const Input& in, const Centre& centre, Scratch& scratch)
{
    const ClusterGrid& grid = *in.grid;
    const int n[2] = {grid.columns.nx, grid.columns.ny};
    const std::int32_t own = grid.column_of_cluster[static_cast<std::size_t>(centre.cluster)];
    CellRange range[2];
    for (int d = 0; d < 2; ++d)
    {
        range[d] = cell_range(centre.x[d], n[d], in.heights[d], in.cutoff + centre.half[d] + grid.largest_half[d]);
        const float half_widths =
            (0.5f * in.heights[d] / static_cast<float>(n[d]) + grid.largest_half[d] + centre.half[d]) * (1 + 1e-5f);
        find_gaps(range[d], centre.x[d], n[d], in.heights[d], half_widths, scratch.gap2[d]);
    }
    std::int32_t* candidates = scratch.candidates.data();
    for (int kx = 0; kx < range[0].count; ++kx)
    {
        const int ix = (range[0].first + kx + n[0]) % n[0];
        const Side in_x = side(own / n[1], ix, n[0]);
        if (in_x == Side::Behind) { continue; }
        for (int ky = 0; ky < range[1].count; ++ky)
        {
            const int iy = (range[1].first + ky + n[1]) % n[1];
            const Side s = in_x == Side::Ahead ? in_x : side(own % n[1], iy, n[1]);
            // In a tilted box faces are not at right angles. Only the larger distance is certain, and it does not hold across z.
            const float gap2_x = scratch.gap2[0][static_cast<std::size_t>(kx)],
                        gap2_y = scratch.gap2[1][static_cast<std::size_t>(ky)],
                        gap2 = in.is_tilted ? std::max(gap2_x, gap2_y) : gap2_x + gap2_y;
            if (s == Side::Behind || gap2 >= in.cutoff * in.cutoff) { continue; }
            const std::int32_t column = ix * n[1] + iy;
            std::int32_t* const found = candidates;
            candidates = append_column(in, centre, column, in.is_tilted ? 0 : gap2,
                                       scratch.first[static_cast<std::size_t>(column)], candidates);
            if (s == Side::Undecided)
            {
                candidates = std::remove_if(found, candidates, [&](std::int32_t j) {
                    return j == centre.cluster || !lists_undecided(centre.cluster, j);
                });
            }
        }
    }
    return candidates;
}

// Returns which pairs of two clusters belong to this rank.
Claim claim(const Input& in, std::int32_t i, std::int32_t j)
{
    const auto home = static_cast<std::size_t>(in.home_clusters);
    return in.territory->claim(in.territory->zone_of(static_cast<std::size_t>(i), home),
                               in.territory->zone_of(static_cast<std::size_t>(j), home));
}

// Keeps the candidates with at least one pair that belongs to this rank. Returns the new end of the candidates.
std::int32_t* keep_claimed(const Input& in, std::int32_t cluster, std::int32_t* end, Scratch& scratch)
{
    if (in.territory->is_everything()) { return end; }
    return std::remove_if(scratch.candidates.data(), end, [&](std::int32_t j) { return claim(in, cluster, j).none; });
}

// For two clusters whose zones meet in both directions around the box: returns those of the halves in
// range whose pairs all belong to this rank. Halves of which only some pairs do become partial entries.
std::uint32_t divide(const Input& in, std::int32_t cluster, std::int32_t j, std::uint8_t ask, std::uint32_t in_range,
                     Scratch& scratch)
{
    std::uint32_t whole = 0;
    const auto home = static_cast<std::size_t>(in.home_clusters);
    const std::uint16_t zone_i = in.territory->zone_of(static_cast<std::size_t>(cluster), home);
    const std::uint16_t zone_j = in.territory->zone_of(static_cast<std::size_t>(j), home);
    const std::int32_t mask = scratch.mask_index[static_cast<std::size_t>(j)];
    for (std::uint32_t half = 0; half < 2; ++half)
    {
        if ((in_range >> half & 1) == 0) { continue; }
        const std::uint32_t* xi = in.x + static_cast<std::size_t>(cluster) * 3 * cluster_size + half * half_cluster_size;
        const std::uint32_t* xj = in.x + static_cast<std::size_t>(j) * 3 * cluster_size;
        const std::uint32_t interacts = mask < 0 ? ~0u : scratch.masks[static_cast<std::size_t>(mask)].interacts[half];
        const std::uint32_t exists = in.territory->claimed(zone_i, zone_j, ask, xi, xj);
        if (exists == ~0u) { whole |= 1u << half; }
        else if (exists != 0) { scratch.partial[half].push_back({{j, interacts & exists}, exists}); }
    }
    return whole;
}

// Tests the atoms of the candidates, and sorts the candidates into the entries of the centre's halves.
template <bool centred, bool tilted>
void test_candidates(const Input& in, std::int32_t cluster, const std::int32_t* end, Scratch& scratch)
{
    const auto x_of = [&](std::int32_t c) { return in.x + static_cast<std::size_t>(c) * 3 * cluster_size; };
    const AtomBlock<cluster_size, tilted> block(in, x_of(cluster));
    const bool shares = !in.territory->is_everything();
    PairEntry* plain[2] = {scratch.plain[0].data(), scratch.plain[1].data()};
    for (const std::int32_t* candidate = scratch.candidates.data(); candidate != end; ++candidate)
    {
        const std::int32_t j = *candidate;
        std::uint32_t in_range = halves_in_range<centred>(in, block, x_of(j));
        if (shares && in_range != 0)
        {
            if (const std::uint8_t ask = claim(in, cluster, j).ask) { in_range = divide(in, cluster, j, ask, in_range, scratch); }
        }
        if (const std::int32_t mask = scratch.mask_index[static_cast<std::size_t>(j)]; mask >= 0)
        {
            for (std::uint32_t half = 0; half < 2; ++half)
            {
                const std::uint32_t interacts = scratch.masks[static_cast<std::size_t>(mask)].interacts[half];
                if ((in_range >> half & 1) != 0)
                {
                    (interacts == ~0u ? *plain[half]++ : scratch.masked[half].emplace_back()) = {j, interacts};
                }
            }
            continue;
        }
        *plain[0] = *plain[1] = {j, ~0u};
        plain[0] += in_range & 1;
        plain[1] += in_range >> 1;
    }
    for (std::size_t half = 0; half < 2; ++half)
    {
        scratch.plain_count[half] = static_cast<std::size_t>(plain[half] - scratch.plain[half].data());
    }
}

void append_rows(std::int32_t cluster, std::int32_t home_clusters, const Scratch::Masks& diagonal, Scratch& scratch,
                 PairListPart& part)
{
    const bool is_home = cluster < home_clusters;
    for (int half = 0; half < 2; ++half)
    {
        for (const Scratch::Partial& partial : scratch.partial[half])
        {
            const auto begin = static_cast<std::int32_t>(part.entries.size());
            part.entries.push_back(partial.entry);
            part.rows.push_back({2 * cluster + half, begin, begin + 1, begin + 1, partial.exists});
        }
        scratch.partial[half].clear();
        if (!is_home && scratch.masked[half].empty() && scratch.plain_count[half] == 0) { continue; }
        PairRow row{};
        row.half_cluster = 2 * cluster + half;
        row.exists = is_home ? diagonal_pairs(half) : 0;
        row.begin = static_cast<std::int32_t>(part.entries.size());
        part.entries.push_back({cluster, diagonal.interacts[half]});
        part.entries.insert(part.entries.end(), scratch.masked[half].begin(), scratch.masked[half].end());
        row.masked_end = static_cast<std::int32_t>(part.entries.size());
        part.entries.insert(part.entries.end(), scratch.plain[half].begin(),
                            scratch.plain[half].begin() + static_cast<std::ptrdiff_t>(scratch.plain_count[half]));
        row.end = static_cast<std::int32_t>(part.entries.size());
        part.rows.push_back(row);
        scratch.masked[half].clear();
    }
}

void search_part(const Input& in, std::int32_t begin, std::int32_t end, Scratch& scratch, PairListPart& part)
{
    part.rows.clear();
    part.entries.clear();
    const auto test = in.is_tilted ? (in.centred ? test_candidates<true, true> : test_candidates<false, true>)
                                   : (in.centred ? test_candidates<true, false> : test_candidates<false, false>);
    for (std::int32_t cluster = begin; cluster < end; ++cluster)
    {
        const Scratch::Masks diagonal = find_exclusions(in, cluster, scratch);
        const Centre centre = make_centre(in, cluster);
        const std::int32_t* candidates_end = keep_claimed(in, cluster, find_candidates(in, centre, scratch), scratch);
        test(in, cluster, candidates_end, scratch);
        append_rows(cluster, in.home_clusters, diagonal, scratch, part);
        for (const Scratch::Masks& m : scratch.masks) { scratch.mask_index[static_cast<std::size_t>(m.cluster)] = -1; }
        scratch.masks.clear();
    }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::pair_search
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parhelion::pair_search {
HWY_EXPORT(search_part);
void search(const Input& input, std::int32_t begin, std::int32_t end, Scratch& scratch, PairListPart& part)
{
    HWY_DYNAMIC_DISPATCH(search_part)(input, begin, end, scratch, part);
}
} // namespace parhelion::pair_search
#endif
