// SPDX-License-Identifier: Apache-2.0
// The pair search, one vector of candidate clusters at a time: columns by distance in xy, a range of each column by z, bounding
// boxes, then the atoms of those clusters that are left.
#include "pairs/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pairs/pair_search.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "pairs/pair_search.hpp"

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

// The cluster whose partners are sought.
struct Centre
{
    std::int32_t cluster;
    std::uint32_t x[3];
    float half[3];
    std::uint32_t atoms[3][cluster_size];
    float offset[3][cluster_size]; // of the atoms from x, nm
};

Centre make_centre(const Input& in, std::int32_t cluster)
{
    Centre centre;
    centre.cluster = cluster;
    const auto rank = static_cast<std::size_t>(in.grid->rank_of_cluster[static_cast<std::size_t>(cluster)]);
    const std::uint32_t* x = in.x + static_cast<std::size_t>(cluster) * 3 * cluster_size;
    for (int d = 0; d < 3; ++d)
    {
        centre.x[d] = in.grid->centre[d][rank], centre.half[d] = in.grid->half[d][rank];
        for (int i = 0; i < cluster_size; ++i)
        {
            centre.atoms[d][i] = x[d * cluster_size + i];
            centre.offset[d][i] =
                static_cast<float>(static_cast<std::int32_t>(centre.atoms[d][i] - centre.x[d])) * in.nm_per_unit[d];
        }
    }
    return centre;
}

// Minimum-image difference in units -> nm.
HWY_INLINE VF difference(hn::Vec<DU> a, hn::Vec<DU> b, VF nm_per_unit)
{
    return hn::Mul(hn::ConvertTo(DF(), hn::BitCast(DI(), hn::Sub(a, b))), nm_per_unit);
}

// Bit h: half h of the centre has an atom within the cut-off of one of the cluster at xj.
template <bool centred>
HWY_INLINE std::uint32_t halves_in_range(const Input& in, const Centre& centre, const std::uint32_t* HWY_RESTRICT xj)
{
    const DF d;
    const DU du;
    const std::size_t lanes = hn::Lanes(d);
    const VF r2_max = hn::Set(d, in.cutoff * in.cutoff);
    std::uint32_t in_range = 0;
    for (std::size_t part = 0; part < cluster_size; part += lanes)
    {
        hn::Vec<DU> j[3];
        VF dj[3], scale[3];
        for (int k = 0; k < 3; ++k)
        {
            scale[k] = hn::Set(d, in.nm_per_unit[k]);
            j[k] = hn::Load(du, xj + k * cluster_size + part);
            dj[k] = difference(j[k], hn::Set(du, centre.x[k]), scale[k]);
        }
        for (int half = 0; half < 2; ++half)
        {
            VF nearest = r2_max;
            for (int i = half * half_cluster_size; i < (half + 1) * half_cluster_size; ++i)
            {
                VF r2 = hn::Zero(d);
                for (int k = 0; k < 3; ++k)
                {
                    const VF dx = centred ? hn::Sub(dj[k], hn::Set(d, centre.offset[k][i]))
                                          : difference(j[k], hn::Set(du, centre.atoms[k][i]), scale[k]);
                    r2 = hn::MulAdd(dx, dx, r2);
                }
                nearest = hn::Min(nearest, r2);
            }
            in_range |= static_cast<std::uint32_t>(!hn::AllFalse(d, hn::Lt(nearest, r2_max))) << half;
        }
    }
    return in_range;
}

HWY_INLINE void add_entry(std::int32_t j, std::uint32_t in_range, Scratch& scratch)
{
    const std::int32_t mask = scratch.mask_index[static_cast<std::size_t>(j)];
    for (int half = 0; half < 2; ++half)
    {
        if ((in_range >> half & 1) == 0) { continue; }
        const std::uint32_t interacts = mask < 0 ? ~0u : scratch.masks[static_cast<std::size_t>(mask)].interacts[half];
        auto& entries = interacts == ~0u ? scratch.plain[half] : scratch.masked[half];
        entries.push_back({j, interacts});
    }
}

// Who lists the pairs of two clusters: the one whose column is behind, in x if that differs, else in y; in one column, and in
// columns that are half a box apart, the lower index if their sum is even, else the higher.
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

// Candidates k .. k + lanes of the grid's order, the first `count` of them.
template <bool centred>
HWY_INLINE void test_candidates(const Input& in, const Centre& centre, std::int32_t k, std::int32_t count, bool undecided,
                                Scratch& scratch)
{
    const DF d;
    const DU du;
    const ClusterGrid& grid = *in.grid;
    const VF zero = hn::Zero(d), r2_max = hn::Set(d, in.cutoff * in.cutoff);
    VF nearest = zero, farthest = zero;
    for (int dim = 0; dim < 3; ++dim)
    {
        const VF distance = hn::Abs(
            difference(hn::LoadU(du, grid.centre[dim].data() + k), hn::Set(du, centre.x[dim]), hn::Set(d, in.nm_per_unit[dim])));
        const VF halves = hn::Add(hn::LoadU(d, grid.half[dim].data() + k), hn::Set(d, centre.half[dim]));
        const VF gap = hn::Max(zero, hn::Sub(distance, halves)), span = hn::Add(distance, halves);
        nearest = hn::MulAdd(gap, gap, nearest);
        farthest = hn::MulAdd(span, span, farthest);
    }
    std::uint8_t near_bytes[8] = {}, inside_bytes[8] = {};
    hn::StoreMaskBits(d, hn::Lt(nearest, r2_max), near_bytes);
    hn::StoreMaskBits(d, hn::Lt(farthest, r2_max), inside_bytes);
    const std::uint32_t inside = inside_bytes[0];
    for (std::uint32_t bits = near_bytes[0] & ((1u << count) - 1u); bits != 0; bits &= bits - 1)
    {
        const std::size_t lane = hwy::Num0BitsBelowLS1Bit_Nonzero32(bits);
        const std::int32_t j = grid.cluster[static_cast<std::size_t>(k) + lane];
        if (undecided && (j == centre.cluster || !lists_undecided(centre.cluster, j))) { continue; }
        const std::uint32_t in_range =
            (inside >> lane & 1) != 0
                ? 3u
                : halves_in_range<centred>(in, centre, in.x + static_cast<std::size_t>(j) * 3 * cluster_size);
        add_entry(j, in_range, scratch);
    }
}

// Candidates from `k` on up to the first whose centre is above `high`, or `end`, in whole vectors; returns the first left out.
template <bool centred>
HWY_INLINE std::int32_t search_range(const Input& in, const Centre& centre, std::int32_t k, std::int32_t end, std::uint32_t high,
                                     bool undecided, Scratch& scratch)
{
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(DF()));
    const std::uint32_t* z = in.grid->centre[2].data();
    for (; k < end && z[k] <= high; k += lanes)
    {
        test_candidates<centred>(in, centre, k, std::min(lanes, end - k), undecided, scratch);
    }
    return k;
}

// Distance between intervals on a ring, given their middles in units; 0 if they overlap.
inline float interval_gap(std::uint32_t a, std::uint32_t b, float nm_per_unit, float half_widths)
{
    return std::max(0.0f, std::abs(static_cast<float>(static_cast<std::int32_t>(a - b))) * nm_per_unit - half_widths);
}

// Cells of one dimension whose clusters may reach the centre: the first (may be negative) and their number, each cell once.
struct CellRange
{
    int first, count;
};
inline CellRange cell_range(std::uint32_t x, int n, float box, float distance)
{
    const int reach = static_cast<int>(std::min(distance / box * static_cast<float>(n), static_cast<float>(n))) + 1;
    if (2 * reach + 1 >= n) { return {0, n}; }
    return {ColumnGrid::cell(x, n) - reach, 2 * reach + 1};
}

template <bool centred>
HWY_INLINE void search_column(const Input& in, const Centre& centre, int ix, int iy, bool undecided, Scratch& scratch)
{
    const ClusterGrid& grid = *in.grid;
    const auto column = static_cast<std::size_t>(ix * grid.columns.ny + iy);
    const std::int32_t begin = grid.begin[column], end = grid.begin[column + 1];
    if (begin == end) { return; }
    const auto middle = [](int i, int n) {
        return static_cast<std::uint32_t>((2 * static_cast<std::uint64_t>(i) + 1) * 0x80000000u / static_cast<std::uint64_t>(n));
    };
    const Vec3<float>& half = grid.column_half[column];
    const float cell_x = 0.5f * in.box.x / static_cast<float>(grid.columns.nx),
                cell_y = 0.5f * in.box.y / static_cast<float>(grid.columns.ny);
    const float dx = interval_gap(middle(ix, grid.columns.nx), centre.x[0], in.nm_per_unit.x,
                                  (cell_x + half.x + centre.half[0]) * (1 + 1e-5f));
    const float dy = interval_gap(middle(iy, grid.columns.ny), centre.x[1], in.nm_per_unit.y,
                                  (cell_y + half.y + centre.half[1]) * (1 + 1e-5f));
    const float dz2 = in.cutoff * in.cutoff - dx * dx - dy * dy;
    if (dz2 < 0) { return; }
    const float dz = (std::sqrt(dz2) + half.z + centre.half[2]) * (1 + 1e-5f);
    if (2 * dz >= 0.999f * in.box.z)
    {
        search_range<centred>(in, centre, begin, end, ~0u, undecided, scratch);
        return;
    }
    const auto units = static_cast<std::uint32_t>(dz / in.nm_per_unit.z) + 2;
    const std::uint32_t low = centre.x[2] - units, high = centre.x[2] + units;
    const std::uint32_t* z = grid.centre[2].data();
    std::int32_t& first = scratch.first[column];
    while (first < end && z[first] < low) { ++first; }
    while (first > begin && z[first - 1] >= low) { --first; }
    if (low <= high) { search_range<centred>(in, centre, first, end, high, undecided, scratch); }
    else // the range wraps around the box
    {
        const std::int32_t next = search_range<centred>(in, centre, begin, end, high, undecided, scratch);
        search_range<centred>(in, centre, std::max(first, next), end, ~0u, undecided, scratch);
    }
}

// Fills scratch.masks with the clusters that hold an atom excluded from one of `cluster`; returns the diagonal's masks.
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

template <bool centred>
void search_cluster(const Input& in, const Centre& centre, Scratch& scratch)
{
    const ClusterGrid& grid = *in.grid;
    const int nx = grid.columns.nx, ny = grid.columns.ny;
    const std::int32_t own = grid.column_of_cluster[static_cast<std::size_t>(centre.cluster)];
    const CellRange rx = cell_range(centre.x[0], nx, in.box.x, in.cutoff + centre.half[0] + grid.largest_half.x);
    const CellRange ry = cell_range(centre.x[1], ny, in.box.y, in.cutoff + centre.half[1] + grid.largest_half.y);
    for (int kx = 0; kx < rx.count; ++kx)
    {
        const int ix = (rx.first + kx + nx) % nx;
        const Side in_x = side(own / ny, ix, nx);
        if (in_x == Side::Behind) { continue; }
        for (int ky = 0; ky < ry.count; ++ky)
        {
            const int iy = (ry.first + ky + ny) % ny;
            const Side s = in_x == Side::Ahead ? in_x : side(own % ny, iy, ny);
            if (s != Side::Behind) { search_column<centred>(in, centre, ix, iy, s == Side::Undecided, scratch); }
        }
    }
}

void append_rows(std::int32_t cluster, const Scratch::Masks& diagonal, Scratch& scratch, PairListPart& part)
{
    for (int half = 0; half < 2; ++half)
    {
        PairRow row{};
        row.half_cluster = 2 * cluster + half;
        row.begin = static_cast<std::int32_t>(part.entries.size());
        part.entries.push_back({cluster, diagonal.interacts[half]});
        part.entries.insert(part.entries.end(), scratch.masked[half].begin(), scratch.masked[half].end());
        row.masked_end = static_cast<std::int32_t>(part.entries.size());
        part.entries.insert(part.entries.end(), scratch.plain[half].begin(), scratch.plain[half].end());
        row.end = static_cast<std::int32_t>(part.entries.size());
        part.rows.push_back(row);
        scratch.masked[half].clear();
        scratch.plain[half].clear();
    }
}

void search_part(const Input& in, std::int32_t begin, std::int32_t end, Scratch& scratch, PairListPart& part)
{
    part.rows.clear();
    part.entries.clear();
    for (std::int32_t cluster = begin; cluster < end; ++cluster)
    {
        const Scratch::Masks diagonal = find_exclusions(in, cluster, scratch);
        const Centre centre = make_centre(in, cluster);
        if (in.centred) { search_cluster<true>(in, centre, scratch); }
        else { search_cluster<false>(in, centre, scratch); }
        append_rows(cluster, diagonal, scratch, part);
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
