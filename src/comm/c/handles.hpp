// SPDX-License-Identifier: Apache-2.0
// Handles, by which callers of the C interface name objects. They are numbers, not addresses, and no number is given twice, so
// that a freed or invented handle is recognised.
#pragma once

#include "comm/core/failures.hpp"
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

// A table of handles. Any thread may look up a handle, without a lock: an entry's handle is stored with release after its
// object, and set to 0 before the object is destroyed. No thread may free a handle that another thread is using.
//
// From its lowest bit on a handle consists of the number 7 (three bits, as no aligned address ends in 7), the kind, the place
// in the table, and how often that place has been given.
template <class Handle, class Object, HandleKind kind>
class HandleTable
{
public:
    // Adds an object and returns its handle. Throws LimitReached when there are 4 million handles.
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
    // Returns the object of a handle. Throws PartitionedError (Misuse::Null) if the handle is not valid.
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
        std::atomic<std::uint64_t> handle = 0; // 0: the entry is free
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

    std::array<Entry, chunk_size> first_{}; // first chunk of entries, found without loading a pointer
    std::array<std::atomic<Entry*>, most / chunk_size> chunks_{};
    std::mutex mutex_; // guards owned_ and places_, and changes of first_ and chunks_
    std::vector<std::unique_ptr<Entry[]>> owned_;
    std::size_t places_ = 0; // number of places in the table
    std::vector<std::size_t> free_;
};

} // namespace parhelion::c_interface
