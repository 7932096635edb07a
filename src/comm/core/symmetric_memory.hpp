// SPDX-License-Identifier: Apache-2.0
// Memory that ranks write into for each other. Every rank has a payload arena and a signal arena, of the same sizes on all
// ranks. A rank and an offset identify a place in an arena.
//
// Arenas reserve address space, and memory is committed when touched, so their size can be generous. Payload is allocated and
// released in one rank's arena, or at the same offset for a group of ranks. Partitioned messages do not release signal slots:
// they use them again, with epochs that continue. Only the rank itself allocates in its arenas, so no lock is needed. A process
// knows only the layouts of its own ranks. Allocations search the list of free extents, so they are for the setup, not the step.
#pragma once

#include "comm/core/signal.hpp"

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

namespace parhelion {

// A part of a payload arena, given by its offset and size in bytes.
struct Window
{
    std::size_t offset = 0;
    std::size_t bytes = 0;
};

inline constexpr std::size_t window_alignment = 128; // bytes; offsets and sizes of windows are multiples of it
constexpr std::size_t round_up_window(std::size_t bytes)
{
    return (bytes + window_alignment - 1) / window_alignment * window_alignment;
}

// The free extents of one arena, which are ranges of bytes.
class FreeExtents
{
public:
    explicit FreeExtents(std::size_t bytes) { extents_[0] = bytes; }

    static constexpr std::size_t none = std::numeric_limits<std::int64_t>::max(); // means that nothing fits; above every offset
    // Returns the smallest offset >= `from` at which `bytes` bytes are free, or `none`.
    std::size_t fit(std::size_t from, std::size_t bytes) const;
    void take(Window window); // the window must be free
    void give_back(Window window);

private:
    std::map<std::size_t, std::size_t> extents_; // begin and end of each free extent; extents do not touch each other
};

// Returns the least offset that suits all members. greatest_fit(offset): the greatest offset >= `offset` that a member needs.
template <class GreatestFit>
std::size_t common_offset(GreatestFit&& greatest_fit)
{
    // Raise the offset until every member accepts it. A round in which no member raises it ends the search.
    for (std::size_t offset = 0;;)
    {
        const std::size_t fit = greatest_fit(offset);
        if (fit == offset || fit == FreeExtents::none) { return fit; }
        offset = fit;
    }
}

// The arenas of all ranks. A caller may allocate for its own rank or, if one thread sets up all ranks, for any rank.
class SymmetricMemory
{
public:
    struct Arenas
    {
        std::byte* payload; // aligned to window_alignment; null, like `signals`, if the rank's memory is out of reach
        SignalSlot* signals;
    };
    // A function that makes `count` signal slots of a rank, from `first` on, show the epoch `shown`.
    using Show = std::function<void(int rank, SignalSlot* first, int count, Word shown)>;

    SymmetricMemory(std::vector<Arenas> of_ranks, std::size_t payload_bytes, std::size_t signal_slots, Show show);

    // The index of the signal slot with a rank's abort word, which every rank has from the start.
    static constexpr std::size_t abort_signal = 0;

    int ranks() const { return static_cast<int>(ranks_.size()); }
    bool reaches(int rank) const { return of(rank).arenas.payload != nullptr; }
    // payload() and signal() return an address in a rank's arenas, or null if the rank's memory is out of reach.
    std::byte* payload(int rank, std::size_t offset) const { return reaches(rank) ? of(rank).arenas.payload + offset : nullptr; }
    SignalSlot* signal(int rank, std::size_t index) const { return reaches(rank) ? of(rank).arenas.signals + index : nullptr; }
    // Returns whether all these bytes are within the rank's payload arena.
    bool holds(int rank, const std::byte* data, std::size_t bytes) const;
    // Returns whether any of these bytes is within the rank's payload arena.
    bool touches(int rank, const std::byte* data, std::size_t bytes) const;

    // Returns whether this window and this signal slot are within the rank's arenas.
    bool has_place(int rank, std::size_t offset, std::size_t bytes, std::size_t signal) const
    {
        return reaches(rank) && offset <= payload_bytes_ && bytes <= payload_bytes_ - offset && signal < signal_slots_;
    }

    // Allocates `bytes` bytes in one rank's payload arena. Throws MemoryFull.
    Window allocate(int rank, std::size_t bytes);
    // Allocates at the same offset in the arenas of all members. One call is for the whole group.
    Window allocate(std::span<const int> members, std::size_t bytes);
    void release(int rank, Window window);
    // fit() returns the smallest offset >= `from` with `bytes` free bytes, or FreeExtents::none. take() takes these bytes.
    std::size_t fit(int rank, std::size_t from, std::size_t bytes) const { return of(rank).free.fit(from, bytes); }
    void take(int rank, Window window) { of(rank).free.take(window); }

    // Reserves `count` consecutive signal slots that show the epoch `shown`. Returns the first slot's index. Throws LimitReached.
    std::size_t reserve_signals(int rank, int count, Word shown);
    // Makes signal slots available for other reservations. No signal to these slots may be in flight.
    void release_signals(int rank, std::size_t first, int count) { of(rank).released_signals[count].push_back(first); }

private:
    struct OfRank
    {
        Arenas arenas;
        FreeExtents free;
        std::size_t next_signal;
        std::map<int, std::vector<std::size_t>> released_signals; // indices of first slots, by the count of slots
    };
    OfRank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    const OfRank& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    std::size_t payload_bytes_, signal_slots_; // sizes of each rank's arenas
    Show show_;
    std::vector<OfRank> ranks_;
};

} // namespace parhelion
