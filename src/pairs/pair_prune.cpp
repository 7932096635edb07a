// SPDX-License-Identifier: Apache-2.0
// Pruning: row by row, entries without a pair in range are dropped and those left are sorted by which pairs of i atoms have one.
#include "pairs/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pairs/pair_prune.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "pairs/pair_search.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace parhelion::pair_search {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 2 * cluster_size>;
using DU = hn::Rebind<std::uint32_t, DF>;
using DI = hn::Rebind<std::int32_t, DF>;
using VF = hn::Vec<DF>;

// As in the force kernels, a vector of 16 lanes holds 8 j atoms twice, for two i atoms.
constexpr int i_per_vector = hn::MaxLanes(DF()) > cluster_size ? 2 : 1;
constexpr int j_per_vector = static_cast<int>(hn::MaxLanes(DF())) / i_per_vector;
constexpr int i_vectors = half_cluster_size / i_per_vector;

template <class D, class X>
HWY_INLINE hn::Vec<D> load_j(D d, const X* from)
{
    if constexpr (i_per_vector == 1) { return hn::Load(d, from); }
    else
    {
        const auto once = hn::Load(hn::Half<D>(), from);
        return hn::Combine(d, once, once);
    }
}
template <class D, class X>
HWY_INLINE hn::Vec<D> load_i(D d, const X* of_atom, int v)
{
    if constexpr (i_per_vector == 1) { return hn::Set(d, of_atom[v]); }
    else { return hn::Combine(d, hn::Set(hn::Half<D>(), of_atom[2 * v + 1]), hn::Set(hn::Half<D>(), of_atom[2 * v])); }
}

// The i atoms of a row: positions, and offsets (nm) from the first of them.
struct Half
{
    std::uint32_t first[3];
    hn::Vec<DU> x[3][i_vectors];
    VF offset[3][i_vectors];
};

HWY_INLINE VF to_nm(hn::Vec<DU> difference, float nm_per_unit)
{
    return hn::Mul(hn::ConvertTo(DF(), hn::BitCast(DI(), difference)), hn::Set(DF(), nm_per_unit));
}

HWY_INLINE Half load_half(const PruneInput& in, std::int32_t half_cluster)
{
    Half half;
    const std::uint32_t* x =
        in.x + static_cast<std::size_t>(half_cluster / 2) * 3 * cluster_size + (half_cluster % 2) * half_cluster_size;
    for (int d = 0; d < 3; ++d)
    {
        half.first[d] = x[d * cluster_size];
        for (int v = 0; v < i_vectors; ++v)
        {
            half.x[d][v] = load_i(DU(), x + d * cluster_size, v);
            half.offset[d][v] = to_nm(hn::Sub(half.x[d][v], hn::Set(DU(), half.first[d])), in.nm_per_unit[d]);
        }
    }
    return half;
}

// Bit p: one of i atoms 2 p and 2 p + 1 has one of the cluster at xj within the cut-off.
template <bool centred>
HWY_INLINE std::uint32_t pairs_in_range(const PruneInput& in, const Half& half, const std::uint32_t* HWY_RESTRICT xj)
{
    const DF d;
    const VF r2_max = hn::Set(d, in.cutoff * in.cutoff);
    std::uint32_t in_range = 0;
    for (int part = 0; part < cluster_size; part += j_per_vector)
    {
        hn::Vec<DU> j[3];
        VF dj[3];
        for (int k = 0; k < 3; ++k)
        {
            j[k] = load_j(DU(), xj + k * cluster_size + part);
            dj[k] = to_nm(hn::Sub(j[k], hn::Set(DU(), half.first[k])), in.nm_per_unit[k]);
        }
        for (int pair = 0; pair < 2; ++pair)
        {
            VF nearest = r2_max;
            for (int v = pair * i_vectors / 2; v < (pair + 1) * i_vectors / 2; ++v)
            {
                VF r2 = hn::Zero(d);
                for (int k = 0; k < 3; ++k)
                {
                    const VF dx =
                        centred ? hn::Sub(dj[k], half.offset[k][v]) : to_nm(hn::Sub(j[k], half.x[k][v]), in.nm_per_unit[k]);
                    r2 = k == 0 ? hn::Mul(dx, dx) : hn::MulAdd(dx, dx, r2);
                }
                nearest = i_per_vector == 1 ? hn::Min(nearest, r2) : r2;
            }
            in_range |= static_cast<std::uint32_t>(!hn::AllFalse(d, hn::Lt(nearest, r2_max))) << pair;
        }
    }
    return in_range;
}

constexpr std::uint32_t interacts_of[4] = {0, 0xffffu, 0xffff0000u, ~0u};

template <bool centred>
PairRow prune_row(const PruneInput& in, const PairEntry* entries, const PairRow& row, PruneScratch& scratch, PairListPart& part)
{
    const Half half = load_half(in, row.half_cluster);
    const auto test = [&](const PairEntry& e) {
        return pairs_in_range<centred>(in, half, in.x + static_cast<std::size_t>(e.cluster) * 3 * cluster_size);
    };
    PairRow pruned = row;
    pruned.begin = static_cast<std::int32_t>(part.entries.size());
    const auto longest = static_cast<std::size_t>(row.end - row.begin);
    part.entries.resize(static_cast<std::size_t>(pruned.begin) + longest);
    PairEntry* next = part.entries.data() + pruned.begin;
    *next++ = entries[row.begin];
    for (std::int32_t e = row.begin + 1; e < row.masked_end; ++e)
    {
        *next = entries[e];
        next += test(entries[e]) != 0;
    }
    pruned.masked_end = static_cast<std::int32_t>(next - part.entries.data());
    // Without branches: entries of both pairs of i in place, those of one pair into a list each, the others to where nobody
    // looks.
    PairEntry* to[4] = {};
    to[3] = next;
    for (std::size_t k = 0; k < 3; ++k)
    {
        if (scratch.entries[k].size() < longest) { scratch.entries[k].resize(longest); }
        to[k] = scratch.entries[k].data();
    }
    for (std::int32_t e = row.masked_end; e < row.end; ++e)
    {
        const std::uint32_t found = test(entries[e]);
        *to[found]++ = {entries[e].cluster, interacts_of[found]};
    }
    next = std::copy(scratch.entries[1].data(), to[1], to[3]);
    next = std::copy(scratch.entries[2].data(), to[2], next);
    pruned.end = static_cast<std::int32_t>(next - part.entries.data());
    part.entries.resize(static_cast<std::size_t>(pruned.end));
    return pruned;
}

void prune_part(const PruneInput& in, const PairListPart& whole, PruneScratch& scratch, PairListPart& part)
{
    part.rows.clear();
    part.entries.clear();
    for (const PairRow& row : whole.rows)
    {
        part.rows.push_back(in.centred ? prune_row<true>(in, whole.entries.data(), row, scratch, part)
                                       : prune_row<false>(in, whole.entries.data(), row, scratch, part));
    }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::pair_search
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parhelion::pair_search {
HWY_EXPORT(prune_part);
void prune(const PruneInput& input, const PairListPart& whole, PruneScratch& scratch, PairListPart& part)
{
    HWY_DYNAMIC_DISPATCH(prune_part)(input, whole, scratch, part);
}
} // namespace parhelion::pair_search
#endif
