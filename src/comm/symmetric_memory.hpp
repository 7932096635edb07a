// SPDX-License-Identifier: Apache-2.0
// Memory that ranks write into for each other. Every rank has a payload arena of one size and a signal arena. A rank and an
// offset name a place in it.
//
// Arenas reserve address space; memory is committed when touched, so their size can be generous. Payload is allocated and
// released, in one rank's arena or at the same offset for a group of ranks. Signal slots of engines are kept: their epochs
// outlive the payload. Only the rank itself allocates in its arenas, so no lock is needed, and a process knows the layouts of its
// own ranks alone. For the setup, not for the step. Cost: a search of the list of free extents.
#pragma once

#include "comm/signal.hpp"

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

namespace parhelion {

// A part of a payload arena.
struct Window
{
    std::size_t offset = 0;
    std::size_t bytes = 0;
};

inline constexpr std::size_t window_alignment = 128; // bytes; offsets and sizes are multiples
constexpr std::size_t round_up_window(std::size_t bytes)
{
    return (bytes + window_alignment - 1) / window_alignment * window_alignment;
}

// The free extents of one arena.
class FreeExtents
{
public:
    explicit FreeExtents(std::size_t bytes) { extents_[0] = bytes; }

    static constexpr std::size_t none = std::numeric_limits<std::int64_t>::max(); // above every offset
    // The smallest offset >= `from` at which `bytes` are free, or none.
    std::size_t fit(std::size_t from, std::size_t bytes) const;
    void take(Window window); // which is free
    void give_back(Window window);

private:
    std::map<std::size_t, std::size_t> extents_; // begin -> end, apart from each other
};

// The least offset that suits everybody: greatest_fit(offset) is the greatest at or above `offset` that any member asks for.
template <class GreatestFit>
std::size_t common_offset(GreatestFit&& greatest_fit)
{
    // Raise the offset until every member is content with it. A round in which nobody raises it ends the search.
    for (std::size_t offset = 0;;)
    {
        const std::size_t fit = greatest_fit(offset);
        if (fit == offset || fit == FreeExtents::none) { return fit; }
        offset = fit;
    }
}

// The arenas of all ranks, by whoever allocates for this one or, where one thread sets up for all, for any.
class SymmetricMemory
{
public:
    struct Arenas
    {
        std::byte* payload; // aligned to window_alignment; both are null where the rank's memory is out of reach
        SignalSlot* signals;
    };
    // Makes `count` slots of a rank show an epoch.
    using Show = std::function<void(int rank, SignalSlot* first, int count, Word shown)>;

    SymmetricMemory(std::vector<Arenas> of_ranks, std::size_t payload_bytes, std::size_t signal_slots, Show show);

    // Of every rank, from the start.
    static constexpr std::size_t abort_signal = 0;

    int ranks() const { return static_cast<int>(ranks_.size()); }
    bool reaches(int rank) const { return of(rank).arenas.payload != nullptr; }
    // Null where the rank's memory is out of reach.
    std::byte* payload(int rank, std::size_t offset) const { return reaches(rank) ? of(rank).arenas.payload + offset : nullptr; }
    SignalSlot* signal(int rank, std::size_t index) const { return reaches(rank) ? of(rank).arenas.signals + index : nullptr; }
    // Are these bytes within the rank's payload arena?
    bool holds(int rank, const std::byte* data, std::size_t bytes) const;

    // Have the rank's arenas these places?
    bool has_place(int rank, std::size_t offset, std::size_t bytes, std::size_t signal) const
    {
        return reaches(rank) && offset <= payload_bytes_ && bytes <= payload_bytes_ - offset && signal < signal_slots_;
    }

    // In one rank's payload arena. Throws MemoryFull.
    Window allocate(int rank, std::size_t bytes);
    // At the same offset in the arenas of all members. One call for the whole group.
    Window allocate(std::span<const int> members, std::size_t bytes);
    void release(int rank, Window window);
    // The smallest offset >= `from` at which so much is free, or FreeExtents::none; and what is to be done with it.
    std::size_t fit(int rank, std::size_t from, std::size_t bytes) const { return of(rank).free.fit(from, bytes); }
    void take(int rank, Window window) { of(rank).free.take(window); }

    // `count` neighbouring slots whose epochs show `shown`; the index of the first. Throws LimitReached.
    std::size_t reserve_signals(int rank, int count, Word shown);
    // For others to reserve. Nothing is under way to them.
    void release_signals(int rank, std::size_t first, int count) { of(rank).released_signals[count].push_back(first); }

private:
    struct OfRank
    {
        Arenas arenas;
        FreeExtents free;
        std::size_t next_signal;
        std::map<int, std::vector<std::size_t>> released_signals; // by count: the first of each
    };
    OfRank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    const OfRank& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    std::size_t payload_bytes_, signal_slots_; // of each rank
    Show show_;
    std::vector<OfRank> ranks_;
};

} // namespace parhelion
