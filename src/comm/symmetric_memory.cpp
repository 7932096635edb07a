// SPDX-License-Identifier: Apache-2.0
#include "comm/symmetric_memory.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
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

SymmetricLayout::SymmetricLayout(int ranks, std::size_t payload_bytes, std::size_t signal_slots) : signal_slots_(signal_slots)
{
    PARHELION_EXPECTS(ranks >= 1);
    PARHELION_EXPECTS(payload_bytes > 0 && payload_bytes % window_alignment == 0);
    for (int r = 0; r < ranks; ++r) { ranks_.push_back({FreeExtents(payload_bytes)}); }
}

Window SymmetricLayout::allocate(int rank, std::size_t bytes) { return allocate(std::span<const int>(&rank, 1), bytes); }

Window SymmetricLayout::allocate(std::span<const int> members, std::size_t bytes)
{
    if (bytes == 0) { return {}; } // also in a full arena
    const std::scoped_lock lock(mutex_);
    const std::size_t size = round_up_window(bytes);
    // Raise the offset until every member is content with it. A round in which nobody raises it ends the search.
    std::size_t offset = 0;
    for (bool is_raised = true; is_raised;)
    {
        is_raised = false;
        for (const int rank : members)
        {
            const std::size_t fit = ranks_[static_cast<std::size_t>(rank)].free.fit(offset, size);
            if (fit == FreeExtents::none)
            {
                throw CommError(fmt::format("The symmetric memory of rank {} has no {} bytes left in one piece.", rank, size));
            }
            is_raised = is_raised || fit != offset;
            offset = fit;
        }
    }
    const Window window{offset, size};
    for (const int rank : members) { ranks_[static_cast<std::size_t>(rank)].free.take(window); }
    return window;
}

void SymmetricLayout::release(int rank, Window window)
{
    const std::scoped_lock lock(mutex_);
    if (window.bytes > 0) { ranks_[static_cast<std::size_t>(rank)].free.give_back(window); }
}

std::size_t SymmetricLayout::reserve_signals(int rank, int count)
{
    const std::scoped_lock lock(mutex_);
    std::size_t& next = ranks_[static_cast<std::size_t>(rank)].next_signal;
    if (static_cast<std::size_t>(count) > signal_slots_ - next)
    {
        throw CommError(fmt::format("Rank {} has no signal slots left of {}: too many channels.", rank, signal_slots_));
    }
    return std::exchange(next, next + static_cast<std::size_t>(count));
}

Arena::Arena(std::size_t bytes) : bytes_(bytes)
{
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
    {
        throw SystemError(
            fmt::format("mmap of {} bytes of address space for messages between ranks failed: {}. Allow the process "
                        "so much more for each rank (ulimit -v), or use fewer ranks",
                        bytes, std::strerror(errno)));
    }
    data_ = static_cast<std::byte*>(pages);
}

Arena::~Arena() { munmap(data_, bytes_); }

SymmetricMemory::SymmetricMemory(int ranks, std::size_t payload_bytes, std::size_t signal_slots)
    : SymmetricLayout(ranks, payload_bytes, signal_slots)
{
    for (int r = 0; r < ranks; ++r) { arenas_.push_back(std::make_unique<Arenas>(payload_bytes, signal_slots)); }
}

std::size_t SymmetricMemory::reserve_signals(int rank, int count, Word shown)
{
    const std::size_t first = SymmetricLayout::reserve_signals(rank, count);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(count); ++i) { *signal(rank, i) = {shown, 0}; }
    return first;
}

} // namespace parhelion
