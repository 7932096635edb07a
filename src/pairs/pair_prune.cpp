// SPDX-License-Identifier: Apache-2.0
// Prunes row by row: drops entries without a pair in range, and sorts the others by which pairs of i atoms have one.
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
// Writes the kept entries of a row from `next` on, where the whole row must fit, and advances `next`. Entries for both pairs
// of i atoms are written in place, others to lists. There are no branches, because half of the tests are unpredictable.
template <bool centred, bool tilted>
PairRow prune_row(const Distances& in, const PairEntry* entries, const PairRow& row, PruneScratch& scratch,
                  const PairEntry* begin, PairEntry*& next)
{
    const auto x_of = [&](std::int32_t cluster) { return in.x + static_cast<std::size_t>(cluster) * 3 * cluster_size; };
    const AtomBlock<half_cluster_size, tilted> block(in, x_of(row.half_cluster / 2) + row.half_cluster % 2 * half_cluster_size);
    const auto test = [&](const PairEntry& e) { return halves_in_range<centred>(in, block, x_of(e.cluster)); };
    PairRow pruned = row;
    PairEntry* both = next;
    pruned.begin = static_cast<std::int32_t>(both - begin);
    *both++ = entries[row.begin];
    for (std::int32_t e = row.begin + 1; e < row.masked_end; ++e)
    {
        *both = entries[e];
        both += test(entries[e]) != 0;
    }
    pruned.masked_end = static_cast<std::int32_t>(both - begin);
    const auto longest = static_cast<std::size_t>(row.end - row.begin);
    for (auto& of_one : scratch.entries)
    {
        if (of_one.size() < longest) { of_one.resize(longest); }
    }
    PairEntry *first = scratch.entries[0].data(), *second = scratch.entries[1].data();
    for (std::int32_t e = row.masked_end; e < row.end; ++e)
    {
        const std::int32_t cluster = entries[e].cluster;
        const std::uint32_t found = test(entries[e]), of_first = found & 1, of_second = found >> 1;
        *both = {cluster, ~0u}, *first = {cluster, 0xffffu}, *second = {cluster, 0xffff0000u};
        both += of_first & of_second, first += of_first & ~of_second, second += of_second & ~of_first;
    }
    next = std::copy(scratch.entries[0].data(), first, both);
    next = std::copy(scratch.entries[1].data(), second, next);
    pruned.end = static_cast<std::int32_t>(next - begin);
    return pruned;
}

void prune_part(const Distances& in, const PairListPart& whole, PruneScratch& scratch, PairListPart& part)
{
    part.rows.clear();
    part.entries.resize(whole.entries.size());
    PairEntry *const begin = part.entries.data(), *next = begin;
    const auto prune = in.is_tilted ? (in.centred ? prune_row<true, true> : prune_row<false, true>)
                                    : (in.centred ? prune_row<true, false> : prune_row<false, false>);
    for (const PairRow& row : whole.rows) { part.rows.push_back(prune(in, whole.entries.data(), row, scratch, begin, next)); }
    part.entries.resize(static_cast<std::size_t>(next - begin));
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
