// SPDX-License-Identifier: Apache-2.0
// Handles that callers of the C interface have: numbers, not addresses. Each is given once, so that one which has been freed, or
// was never made, is known as such.
#pragma once

#include "comm/failures.hpp"
#include "comm/partitioned/partitioned.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace parhelion::c_interface {

enum class HandleKind : std::uint8_t
{
    Rank = 1,
    Request,
    Gpus,
    GpuRequest
};

// Looking up is for any thread and takes no lock: the entry's handle is released after its object, and taken back before the
// object goes. A handle must not be freed while another thread uses it, as the rules on threads say.
//
// A handle is, from the lowest bit: 7, which no aligned address ends in; the kind; the place in the table; how often that place
// has been given.
template <class Handle, class Object, HandleKind kind>
class HandleTable
{
public:
    // Throws LimitReached at 4 million.
    Handle* add(Object& object)
    {
        const std::scoped_lock lock(mutex_);
        if (free_.empty()) { grow(); }
        const std::size_t place = free_.back();
        free_.pop_back();
        Entry& entry = at(place);
        const std::uint64_t handle = ++entry.times << place_bits_end | place << 6 | static_cast<std::uint64_t>(kind) << 3 | 7;
        entry.object.store(&object, std::memory_order_relaxed);
        entry.handle.store(handle, std::memory_order_release);
        return reinterpret_cast<Handle*>(handle);
    }
    void remove(const Handle* handle)
    {
        const std::scoped_lock lock(mutex_);
        const std::size_t place = place_of(reinterpret_cast<std::uint64_t>(handle));
        at(place).handle.store(0, std::memory_order_release);
        free_.push_back(place);
    }
    // Throws PartitionedError (Null) if there is none.
    Object& of(const Handle* handle) const
    {
        const auto number = reinterpret_cast<std::uint64_t>(handle);
        const std::size_t place = place_of(number);
        const bool is_of_first = place < chunk_size;
        const Entry* const chunk = is_of_first ? first_.data() : chunks_[place / chunk_size].load(std::memory_order_acquire);
        if (chunk != nullptr && number != 0)
        {
            const Entry& entry = chunk[place % chunk_size];
            if (entry.handle.load(std::memory_order_acquire) == number) { return *entry.object.load(std::memory_order_relaxed); }
        }
        throw PartitionedError(Misuse::Null, number == 0 ? "The handle is null." : "The handle has been freed, or is none.");
    }

private:
    struct Entry
    {
        std::atomic<std::uint64_t> handle = 0; // 0: free
        std::atomic<Object*> object = nullptr;
        std::uint64_t times = 0;
    };
    static constexpr int place_bits = 22, place_bits_end = 6 + place_bits;
    static constexpr std::size_t chunk_size = 4096, most = std::size_t{1} << place_bits;

    static std::size_t place_of(std::uint64_t handle) { return handle >> 6 & (most - 1); }
    Entry& at(std::size_t place)
    {
        return place < chunk_size ? first_[place] : owned_[place / chunk_size - 1][place % chunk_size];
    }
    void grow()
    {
        const std::size_t first = places_;
        if (first == most) { throw LimitReached("There are no more than 4 million handles of a kind."); }
        if (first > 0)
        {
            owned_.push_back(std::make_unique<Entry[]>(chunk_size));
            chunks_[first / chunk_size].store(owned_.back().get(), std::memory_order_release);
        }
        places_ += chunk_size;
        for (std::size_t place = first + chunk_size; place > first; --place) { free_.push_back(place - 1); }
    }

    std::array<Entry, chunk_size> first_{}; // which needs no pointer
    std::array<std::atomic<Entry*>, most / chunk_size> chunks_{};
    std::mutex mutex_; // of what follows, and of changes
    std::vector<std::unique_ptr<Entry[]>> owned_;
    std::size_t places_ = 0; // there are
    std::vector<std::size_t> free_;
};

} // namespace parhelion::c_interface
