// SPDX-License-Identifier: Apache-2.0
// Memory that ranks write into for each other. Every rank has a payload arena of one size and a signal arena; whoever knows a
// rank and an offset can name a place in it.
//
// Arenas are address space first and memory when touched, so that their size can be generous. Payload is handed out and taken
// back; either in one rank's arena, or at the same offset for a group of ranks. Signal slots are handed out once and never taken
// back: their epochs survive any change of the payload. All calls may come from any thread; they take a lock and are for setting
// up, not for the step. Cost: a search of the list of free extents.
#pragma once

#include "comm/signal.hpp"

#include <map>
#include <memory>
#include <mutex>
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

    static constexpr std::size_t none = ~std::size_t{0};
    // The smallest offset >= `from` at which `bytes` are free, or none.
    std::size_t fit(std::size_t from, std::size_t bytes) const;
    void take(Window window); // which is free
    void give_back(Window window);

private:
    std::map<std::size_t, std::size_t> extents_; // begin -> end, apart from each other
};

// Which parts of the ranks' arenas are taken.
class SymmetricLayout
{
public:
    SymmetricLayout(int ranks, std::size_t payload_bytes, std::size_t signal_slots);

    int ranks() const { return static_cast<int>(ranks_.size()); }
    // In one rank's payload arena. Throws CommError if it is full.
    Window allocate(int rank, std::size_t bytes);
    // At the same offset in the arenas of all members. One call for the whole group.
    Window allocate(std::span<const int> members, std::size_t bytes);
    void release(int rank, Window window);
    // `count` neighbouring signal slots; the index of the first. Throws CommError if there are none left.
    std::size_t reserve_signals(int rank, int count);

private:
    struct OfRank
    {
        FreeExtents free;
        std::size_t next_signal = 0;
    };

    std::size_t signal_slots_;
    std::mutex mutex_;
    std::vector<OfRank> ranks_;
};

// Pages of this process, zero until touched.
class Arena
{
public:
    explicit Arena(std::size_t bytes); // throws SystemError
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    std::byte* data() const { return data_; }

private:
    std::byte* data_;
    std::size_t bytes_;
};

class SymmetricMemory : private SymmetricLayout
{
public:
    // Throws SystemError if the address space cannot be had.
    SymmetricMemory(int ranks, std::size_t payload_bytes, std::size_t signal_slots);

    using SymmetricLayout::allocate, SymmetricLayout::ranks, SymmetricLayout::release;
    std::byte* payload(int rank, std::size_t offset) const
    {
        return arenas_[static_cast<std::size_t>(rank)]->payload.data() + offset;
    }
    SignalSlot* signal(int rank, std::size_t index) const
    {
        return reinterpret_cast<SignalSlot*>(arenas_[static_cast<std::size_t>(rank)]->signals.data()) + index;
    }

    // `count` neighbouring slots whose epochs show `shown`; the index of the first. Throws CommError if there are none left.
    std::size_t reserve_signals(int rank, int count, Word shown);

private:
    struct Arenas
    {
        Arenas(std::size_t payload_bytes, std::size_t signal_slots)
            : payload(payload_bytes), signals(signal_slots * sizeof(SignalSlot))
        {
        }
        Arena payload;
        Arena signals;
    };

    std::vector<std::unique_ptr<Arenas>> arenas_;
};

} // namespace parhelion
