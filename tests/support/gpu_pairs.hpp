// SPDX-License-Identifier: Apache-2.0
// The pairs of atoms that a pair list on the GPU stands for, and its shares.
#pragma once

#include "pairs/gpu/pair_list_gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace parhelion::test {

using GlobalPair = std::pair<std::int32_t, std::int32_t>; // atoms, smaller first

// Holds what a test reads back.
struct HostPairList
{
    std::vector<GpuPairRow> rows;
    std::vector<PairWord> entries;
    std::vector<std::uint16_t> masks;
    std::vector<std::int32_t> global_of_slot;
    bool pruned = false;
};
template <class T>
std::vector<T> first_of(GpuQueue& queue, const DeviceBuffer<T>& buffer, std::size_t count)
{
    std::vector<T> values(count);
    buffer.download(queue, values);
    queue.synchronize();
    return values;
}
// Of entries and masks, what was written: there is room for more.
template <class N>
HostPairList read(GpuQueue& queue, const GpuState<N>& state, const GpuPairList& list, bool pruned)
{
    const PairListDemand written = list.demand.to_vector(queue)[0];
    return {list.rows.to_vector(queue), pruned ? list.pruned.to_vector(queue) : first_of(queue, list.entries, written.entries),
            first_of(queue, list.masks, std::size_t{masks_per_entry} * written.masks), state.global_of_slot.to_vector(queue),
            pruned};
}

// take(i, j) for the slots of every pair of atoms that is listed as interacting.
template <class Take>
void for_every_pair(const HostPairList& list, Take&& take)
{
    for (std::size_t r = 0; r < list.rows.size(); ++r)
    {
        const GpuPairRow& row = list.rows[r];
        for (std::int32_t e = 0; e < (list.pruned ? row.pruned : row.count); ++e)
        {
            const PairWord word = list.entries[static_cast<std::size_t>(row.begin + e)];
            for (std::size_t pair = 0; pair < 512; ++pair)
            {
                const std::size_t second = pair / 256, cluster = pair / 32 % 8, lane = pair % 32;
                if ((word >> cluster & 1) == 0) { continue; }
                const std::size_t i = r * supercluster_size + cluster * cluster_size + lane / 4,
                                  j = (word >> 8) * 8 + lane % 4 + 4 * second;
                const bool masked = e < row.masked;
                if (masked &&
                    (list.masks[static_cast<std::size_t>(row.masks + e) * 32 + lane] >> (cluster + 8 * second) & 1) == 0)
                {
                    continue;
                }
                if (j / supercluster_size == r && (!masked || j <= i)) { continue; }
                if (list.global_of_slot[i] >= 0 && list.global_of_slot[j] >= 0) { take(i, j); }
            }
        }
    }
}

// Their global numbers, sorted; a pair listed twice is there twice.
inline std::vector<GlobalPair> listed_pairs(const HostPairList& list)
{
    std::vector<GlobalPair> pairs;
    for_every_pair(list, [&](std::size_t i, std::size_t j) {
        pairs.push_back(std::minmax(list.global_of_slot[i], list.global_of_slot[j]));
    });
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

// Busy rows are those that have entries, in order; from the first entry to the last, every one is in a share, and in one.
inline void expect_shares_cover(GpuQueue& queue, const GpuPairList& list)
{
    std::vector<GpuPairRow> busy;
    for (const GpuPairRow& row : list.rows.to_vector(queue))
    {
        if (row.pruned > 0) { busy.push_back(row); }
    }
    const std::vector<GpuPairRow> gathered = list.busy_rows.to_vector(queue);
    for (std::size_t r = 0; r < busy.size(); ++r)
    {
        ASSERT_EQ(gathered[r].supercluster, busy[r].supercluster) << r;
        ASSERT_EQ(gathered[r].begin, busy[r].begin) << r;
        ASSERT_EQ(gathered[r].pruned, busy[r].pruned) << r;
    }
    const std::vector<PairShare> shares = list.shares.to_vector(queue);
    const auto place = [&](std::size_t s) { return std::pair(shares[s].begin.row, shares[s].begin.entry); };
    const std::size_t end = shares.size() - 1;
    ASSERT_EQ(place(0), std::pair(0, 0));
    ASSERT_EQ(place(end), busy.empty() ? std::pair(0, 0) : std::pair(static_cast<int>(busy.size()) - 1, busy.back().pruned));
    for (std::size_t s = 0; s <= end; ++s)
    {
        if (s > 0) { ASSERT_LE(place(s - 1), place(s)) << s; }
        const GpuPairRow first = busy.empty() ? GpuPairRow{} : busy[static_cast<std::size_t>(shares[s].begin.row)];
        ASSERT_EQ(shares[s].first.supercluster, first.supercluster) << s;
        ASSERT_EQ(shares[s].first.begin, first.begin) << s;
        ASSERT_EQ(shares[s].first.pruned, first.pruned) << s;
        ASSERT_LE(shares[s].begin.entry, first.pruned) << s;
    }
}

} // namespace parhelion::test
