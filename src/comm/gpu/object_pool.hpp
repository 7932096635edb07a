// SPDX-License-Identifier: Apache-2.0
// Small objects in the memory of a rank's GPU that are made and freed while a program runs. A pool cuts them from blocks of 1
// MiB, so that most objects need no allocation. An ObjectImage holds an object and its arrays, which are uploaded in one copy.
//
// Only the thread that sets up uses a pool. Cost: a search of free extents, and the allocation of a block if none has space.
#pragma once

#include "comm/core/symmetric_memory.hpp"
#include "device/gpu/device_buffer.hpp"

#include <cstring>
#include <memory>

namespace parhelion {

class ObjectPool
{
public:
    // A piece of device memory. Its destructor gives the memory back; no queued work may use the memory then.
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

        std::shared_ptr<ObjectPool> pool_; // the pool that the piece belongs to, kept alive by its pieces
        std::size_t block_ = 0;
        Window window_;
        std::byte* data_ = nullptr;
    };

    // Takes a piece of memory, not initialised, on the queue's GPU. All pieces of a pool must be on the same GPU.
    static Piece take(const std::shared_ptr<ObjectPool>& pool, GpuQueue& queue, std::size_t bytes);

private:
    static constexpr std::size_t block_bytes = std::size_t{1} << 20; // size of a block, unless a piece is larger
    struct Block
    {
        DeviceBuffer<std::byte> memory;
        FreeExtents free;
    };
    std::vector<Block> blocks_;
};

// The bytes of an object and its arrays, one after another, as they will lie in device memory. Bytes that nobody sets are zero.
class ObjectImage
{
public:
    // Adds an array of n elements of type T and returns its offset.
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
    // Queues the upload of the image to a piece of device memory.
    void upload(GpuQueue& queue, const ObjectPool::Piece& to) const
    {
        gpu_memory::to_device(queue, to.data(), bytes_.data(), bytes_.size());
    }

private:
    std::vector<std::byte> bytes_;
};

// Copies an object from device memory and returns it. Waits for the copy.
template <class T>
T download_object(GpuQueue& queue, const T* object)
{
    T here;
    gpu_memory::to_host(queue, &here, object, sizeof(T));
    queue.synchronize(GpuQueue::Wait::Spins);
    return here;
}

} // namespace parhelion
