// SPDX-License-Identifier: Apache-2.0
#include "comm/core/symmetric_memory.hpp"

#include "base/error.hpp"
#include "comm/core/failures.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace parhelion {

std::size_t FreeExtents::fit(std::size_t from, std::size_t bytes) const
{
    for (const auto& [begin, end] : extents_)
    {
        const std::size_t at = std::max(begin, from);
        if (at <= end && end - at >= bytes) { return at; }
    }
    return none;
}

void FreeExtents::take(Window window)
{
    auto extent = std::prev(extents_.upper_bound(window.offset));
    const auto [begin, end] = *extent;
    PARHELION_EXPECTS(begin <= window.offset && window.offset + window.bytes <= end);
    extents_.erase(extent);
    if (begin < window.offset) { extents_[begin] = window.offset; }
    if (window.offset + window.bytes < end) { extents_[window.offset + window.bytes] = end; }
}

void FreeExtents::give_back(Window window)
{
    std::size_t begin = window.offset, end = window.offset + window.bytes;
    auto next = extents_.lower_bound(begin);
    PARHELION_EXPECTS(next == extents_.end() || end <= next->first);
    if (next != extents_.end() && next->first == end)
    {
        end = next->second;
        next = extents_.erase(next);
    }
    if (next != extents_.begin())
    {
        const auto previous = std::prev(next);
        PARHELION_EXPECTS(previous->second <= begin);
        if (previous->second == begin)
        {
            begin = previous->first;
            extents_.erase(previous);
        }
    }
    extents_[begin] = end;
}

SymmetricMemory::SymmetricMemory(std::vector<Arenas> of_ranks, std::size_t payload_bytes, std::size_t signal_slots, Show show)
    : payload_bytes_(payload_bytes), signal_slots_(signal_slots), show_(std::move(show))
{
    PARHELION_EXPECTS(!of_ranks.empty());
    PARHELION_EXPECTS(payload_bytes > 0 && payload_bytes % window_alignment == 0);
    for (const Arenas& arenas : of_ranks) { ranks_.push_back({arenas, FreeExtents(payload_bytes), abort_signal + 1, {}}); }
}

bool SymmetricMemory::holds(int rank, const std::byte* data, std::size_t bytes) const
{
    // Compares addresses as integers, since pointers into different arrays must not be compared.
    const auto begin = reinterpret_cast<std::uintptr_t>(of(rank).arenas.payload), at = reinterpret_cast<std::uintptr_t>(data);
    return bytes == 0 || (at >= begin && at - begin <= payload_bytes_ && bytes <= payload_bytes_ - (at - begin));
}

bool SymmetricMemory::touches(int rank, const std::byte* data, std::size_t bytes) const
{
    const auto begin = reinterpret_cast<std::uintptr_t>(of(rank).arenas.payload), at = reinterpret_cast<std::uintptr_t>(data);
    return bytes > 0 && at < begin + payload_bytes_ && begin < at + bytes;
}

Window SymmetricMemory::allocate(int rank, std::size_t bytes) { return allocate(std::span<const int>(&rank, 1), bytes); }

Window SymmetricMemory::allocate(std::span<const int> members, std::size_t bytes)
{
    if (bytes == 0) { return {}; } // an empty window exists even in a full arena
    if (bytes > payload_bytes_)
    {
        throw MemoryFull(
            fmt::format("The symmetric memory of a rank, {} bytes, has no {}. Give the run more when it is made (memory_bytes).",
                        payload_bytes_, bytes));
    }
    const std::size_t size = round_up_window(bytes);
    const std::size_t offset = common_offset([&](std::size_t from) {
        std::size_t greatest = 0;
        for (const int rank : members)
        {
            greatest = std::max(greatest, fit(rank, from, size));
            if (greatest == FreeExtents::none)
            {
                throw MemoryFull(
                    fmt::format("The symmetric memory of rank {}, {} bytes, has no {} left in one piece. Give the run "
                                "more when it is made (memory_bytes).",
                                rank, payload_bytes_, size));
            }
        }
        return greatest;
    });
    for (const int rank : members) { take(rank, {offset, size}); }
    return {offset, size};
}

void SymmetricMemory::release(int rank, Window window)
{
    if (window.bytes > 0) { of(rank).free.give_back(window); }
}

std::size_t SymmetricMemory::reserve_signals(int rank, int count, Word shown)
{
    std::vector<std::size_t>& released = of(rank).released_signals[count];
    if (!released.empty())
    {
        const std::size_t first = released.back();
        released.pop_back();
        show_(rank, signal(rank, first), count, shown);
        return first;
    }
    std::size_t& next = of(rank).next_signal;
    if (static_cast<std::size_t>(count) > signal_slots_ - next)
    {
        throw LimitReached(fmt::format("Rank {} has no signal slots left of {}: too many channels.", rank, signal_slots_));
    }
    const std::size_t first = std::exchange(next, next + static_cast<std::size_t>(count));
    if (shown != 0) { show_(rank, signal(rank, first), count, shown); } // arenas are zero from the start
    return first;
}

} // namespace parhelion
