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
};

// Minimum-image difference in units -> nm.
HWY_INLINE VF difference(hn::Vec<DU> a, hn::Vec<DU> b, VF nm_per_unit)
{
    return hn::Mul(hn::ConvertTo(DF(), hn::BitCast(DI(), hn::Sub(a, b))), nm_per_unit);
}

// Bit i: atom i of the cluster at xi has an atom of the cluster at xj within the cut-off.
HWY_INLINE std::uint32_t atoms_in_range(const std::uint32_t* HWY_RESTRICT xi, const std::uint32_t* HWY_RESTRICT xj,
                                        const Vec3<float>& nm_per_unit, float cutoff2)
{
    const DF d;
    const DU du;
    const std::size_t lanes = hn::Lanes(d);
    const VF sx = hn::Set(d, nm_per_unit.x), sy = hn::Set(d, nm_per_unit.y), sz = hn::Set(d, nm_per_unit.z),
             r2_max = hn::Set(d, cutoff2);
    std::uint32_t in_range = 0;
    for (std::size_t part = 0; part < cluster_size; part += lanes)
    {
        const auto jx = hn::Load(du, xj + part), jy = hn::Load(du, xj + cluster_size + part),
                   jz = hn::Load(du, xj + 2 * cluster_size + part);
        for (int i = 0; i < cluster_size; ++i)
        {
            const VF dx = difference(hn::Set(du, xi[i]), jx, sx);
            const VF dy = difference(hn::Set(du, xi[cluster_size + i]), jy, sy);
            const VF dz = difference(hn::Set(du, xi[2 * cluster_size + i]), jz, sz);
            const VF r2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)));
            in_range |= static_cast<std::uint32_t>(!hn::AllFalse(d, hn::Lt(r2, r2_max))) << i;
        }
    }
    return in_range;
}

// Of two clusters, the one whose rows list the pair.
HWY_INLINE bool lists(std::int32_t i, std::int32_t j) { return (j > i) == (((i + j) & 1) == 0); }

HWY_INLINE void add_entry(const Input& in, const Centre& centre, std::int32_t j, Scratch& scratch)
{
    const std::uint32_t in_range =
        atoms_in_range(in.x + static_cast<std::size_t>(centre.cluster) * 3 * cluster_size,
                       in.x + static_cast<std::size_t>(j) * 3 * cluster_size, in.nm_per_unit, in.cutoff * in.cutoff);
    const std::int32_t mask = scratch.mask_index[static_cast<std::size_t>(j)];
    for (int half = 0; half < 2; ++half)
    {
        if ((in_range >> (half * half_cluster_size) & 0xf) == 0) { continue; }
        const std::uint32_t interacts = mask < 0 ? ~0u : scratch.masks[static_cast<std::size_t>(mask)].interacts[half];
        auto& entries = interacts == ~0u ? scratch.plain[half] : scratch.masked[half];
        entries.push_back({j, interacts});
    }
}

// Candidates [begin, end) of the grid's order, all in one column.
HWY_INLINE void search_range(const Input& in, const Centre& centre, std::int32_t begin, std::int32_t end, Scratch& scratch)
{
    const DF d;
    const DU du;
    const ClusterGrid& grid = *in.grid;
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
    const VF zero = hn::Zero(d), r2_max = hn::Set(d, in.cutoff * in.cutoff);
    for (std::int32_t k = begin; k < end; k += lanes)
    {
        VF r2 = zero;
        for (int dim = 0; dim < 3; ++dim)
        {
            const VF distance = hn::Abs(difference(hn::LoadU(du, grid.centre[dim].data() + k), hn::Set(du, centre.x[dim]),
                                                   hn::Set(d, in.nm_per_unit[dim])));
            const VF gap =
                hn::Max(zero, hn::Sub(hn::Sub(distance, hn::LoadU(d, grid.half[dim].data() + k)), hn::Set(d, centre.half[dim])));
            r2 = hn::MulAdd(gap, gap, r2);
        }
        std::uint8_t bytes[8] = {};
        hn::StoreMaskBits(d, hn::Lt(r2, r2_max), bytes);
        std::uint32_t bits = bytes[0] & ((1u << lanes) - 1u);
        if (end - k < lanes) { bits &= (1u << (end - k)) - 1u; }
        for (; bits != 0; bits &= bits - 1)
        {
            const std::int32_t j = grid.cluster[static_cast<std::size_t>(k) + hwy::Num0BitsBelowLS1Bit_Nonzero32(bits)];
            if (j != centre.cluster && lists(centre.cluster, j)) { add_entry(in, centre, j, scratch); }
        }
    }
}

// Distance between intervals on a ring of length L, given the distance of their middles in units; 0 if they overlap.
inline float interval_gap(std::uint32_t a, std::uint32_t b, float nm_per_unit, float half_widths)
{
    return std::max(0.0f, std::abs(static_cast<float>(static_cast<std::int32_t>(a - b))) * nm_per_unit - half_widths);
}

// Cells of one dimension whose clusters may reach the centre: first index (may be negative) and count, each cell once.
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

void search_column(const Input& in, const Centre& centre, int ix, int iy, Scratch& scratch)
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
    if (2 * dz >= 0.999f * in.box.z) { return search_range(in, centre, begin, end, scratch); }
    const auto units = static_cast<std::uint32_t>(dz / in.nm_per_unit.z) + 2;
    const std::uint32_t low = centre.x[2] - units, high = centre.x[2] + units;
    const std::uint32_t* z = grid.centre[2].data();
    const auto from = static_cast<std::int32_t>(std::lower_bound(z + begin, z + end, low) - z);
    const auto to = static_cast<std::int32_t>(std::upper_bound(z + begin, z + end, high) - z);
    if (low <= high) { return search_range(in, centre, from, to, scratch); }
    search_range(in, centre, begin, to, scratch);
    search_range(in, centre, from, end, scratch);
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
            else if (lists(cluster, j))
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

void search_cluster(const Input& in, const Centre& centre, Scratch& scratch)
{
    const ClusterGrid& grid = *in.grid;
    const int nx = grid.columns.nx, ny = grid.columns.ny;
    const CellRange rx = cell_range(centre.x[0], nx, in.box.x, in.cutoff + centre.half[0] + grid.largest_half.x);
    const CellRange ry = cell_range(centre.x[1], ny, in.box.y, in.cutoff + centre.half[1] + grid.largest_half.y);
    for (int kx = 0; kx < rx.count; ++kx)
    {
        for (int ky = 0; ky < ry.count; ++ky)
        {
            search_column(in, centre, (rx.first + kx + nx) % nx, (ry.first + ky + ny) % ny, scratch);
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
        const auto rank = static_cast<std::size_t>(in.grid->rank_of_cluster[static_cast<std::size_t>(cluster)]);
        Centre centre{cluster, {}, {}};
        for (int d = 0; d < 3; ++d) { centre.x[d] = in.grid->centre[d][rank], centre.half[d] = in.grid->half[d][rank]; }
        search_cluster(in, centre, scratch);
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
