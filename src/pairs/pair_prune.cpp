// SPDX-License-Identifier: Apache-2.0
// Pruning: row by row, entries without a pair in range are dropped and those left are sorted by which pairs of i atoms have one.
#include "pairs/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pairs/pair_prune.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "pairs/atom_block-inl.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace parhelion::pair_search {
namespace HWY_NAMESPACE {
constexpr std::uint32_t interacts_of[4] = {0, 0xffffu, 0xffff0000u, ~0u};

template <bool centred, bool tilted>
PairRow prune_row(const Distances& in, const PairEntry* entries, const PairRow& row, PruneScratch& scratch, PairListPart& part)
{
    const auto x_of = [&](std::int32_t cluster) { return in.x + static_cast<std::size_t>(cluster) * 3 * cluster_size; };
    const AtomBlock<half_cluster_size, tilted> block(in, x_of(row.half_cluster / 2) + row.half_cluster % 2 * half_cluster_size);
    const auto test = [&](const PairEntry& e) { return halves_in_range<centred>(in, block, x_of(e.cluster)); };
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

void prune_part(const Distances& in, const PairListPart& whole, PruneScratch& scratch, PairListPart& part)
{
    part.rows.clear();
    part.entries.clear();
    const auto prune = in.is_tilted ? (in.centred ? prune_row<true, true> : prune_row<false, true>)
                                    : (in.centred ? prune_row<true, false> : prune_row<false, false>);
    for (const PairRow& row : whole.rows) { part.rows.push_back(prune(in, whole.entries.data(), row, scratch, part)); }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::pair_search
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parhelion::pair_search {
HWY_EXPORT(prune_part);
void prune(const Distances& input, const PairListPart& whole, PruneScratch& scratch, PairListPart& part)
{
    HWY_DYNAMIC_DISPATCH(prune_part)(input, whole, scratch, part);
}
} // namespace parhelion::pair_search
#endif
