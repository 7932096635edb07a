// SPDX-License-Identifier: Apache-2.0
// Small objects in the memory of a rank's GPU, for what is made and freed while a program runs: pieces of blocks of a megabyte,
// so that hardly any of them allocates, and an image of an object and its arrays that goes there in one copy.
//
// For the thread that sets up. Cost: a search of free extents; a block's allocation where no block has room.
#pragma once

#include "comm/symmetric_memory.hpp"
#include "device/gpu/device_buffer.hpp"

#include <cstring>
#include <memory>

namespace parhelion {

class ObjectPool
{
public:
    // Given back when it goes. Nothing queued may use it then.
    class Piece
    {
    public:
        Piece() = default;
        ~Piece() { give_back(); }
        Piece(Piece&& other) noexcept { swap(other); }
        Piece& operator=(Piece&& other) noexcept
        {
            swap(other);
            return *this;
        }
        std::byte* data() const { return data_; } // aligned to window_alignment
        template <class T>
        T* at(std::size_t offset) const
        {
            return reinterpret_cast<T*>(data_ + offset);
        }

    private:
        friend class ObjectPool;
        void swap(Piece& other) noexcept
        {
            std::swap(pool_, other.pool_), std::swap(block_, other.block_), std::swap(window_, other.window_);
            std::swap(data_, other.data_);
        }
        void give_back();

        std::shared_ptr<ObjectPool> pool_; // outlives its pieces
        std::size_t block_ = 0;
        Window window_;
        std::byte* data_ = nullptr;
    };

    // Not initialised. On the queue's GPU, the same one for all pieces of a pool.
    static Piece take(const std::shared_ptr<ObjectPool>& pool, GpuQueue& queue, std::size_t bytes);

private:
    static constexpr std::size_t block_bytes = std::size_t{1} << 20; // of blocks, unless a piece is larger
    struct Block
    {
        DeviceBuffer<std::byte> memory;
        FreeExtents free;
    };
    std::vector<Block> blocks_;
};

// What an object and its arrays are to be in device memory, one behind the other; zeros where nothing was put.
class ObjectImage
{
public:
    // The offset of an array of so many T.
    template <class T>
    std::size_t add(std::size_t n)
    {
        const std::size_t offset = round_up_window(bytes_.size());
        bytes_.resize(offset + n * sizeof(T));
        return offset;
    }
    template <class T>
    std::size_t add(const std::vector<T>& values)
    {
        const std::size_t offset = add<T>(values.size());
        if (!values.empty()) { std::memcpy(bytes_.data() + offset, values.data(), values.size() * sizeof(T)); }
        return offset;
    }
    template <class T>
    void put(std::size_t offset, const T& value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(bytes_.data() + offset, &value, sizeof(T));
    }
    std::size_t size() const { return bytes_.size(); }
    // Queued.
    void upload(GpuQueue& queue, const ObjectPool::Piece& to) const
    {
        gpu_memory::to_device(queue, to.data(), bytes_.data(), bytes_.size());
    }

private:
    std::vector<std::byte> bytes_;
};

// A copy of what is in device memory. Waits.
template <class T>
T download_object(GpuQueue& queue, const T* object)
{
    T here;
    gpu_memory::to_host(queue, &here, object, sizeof(T));
    queue.synchronize(GpuQueue::Wait::Spins);
    return here;
}

} // namespace parhelion
