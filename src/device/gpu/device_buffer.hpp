// SPDX-License-Identifier: Apache-2.0
// Arrays in device memory and in pinned host memory. Elements are plain data: they are copied as bytes and never constructed.
#pragma once

#include "base/error.hpp"
#include "device/gpu/queue_gpu.hpp"

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace parhelion {

template <class T>
class DeviceBuffer
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(std::size_t size) { resize(size); }
    // Uses `size` elements at `lent`, memory that another object owns and that must outlive this buffer.
    DeviceBuffer(T* lent, std::size_t size) : data_(lent), size_(size), capacity_(size), is_lent_(true) {}
    ~DeviceBuffer() { give_back(); }
    DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept
    {
        swap(other);
        return *this;
    }

    // If `size` exceeds the capacity, new memory is allocated: contents are lost and the address changes. A quarter more
    // than `size` is taken, so sizes that grow slowly do not allocate each time. No queued work may use the old memory.
    void resize(std::size_t size)
    {
        if (size > capacity_)
        {
            const std::size_t enlarged = capacity_ == 0 ? size : size + size / 4;
            PARHELION_EXPECTS(!is_lent_);
            give_back();
            data_ = static_cast<T*>(gpu_memory::allocate(enlarged * sizeof(T)));
            capacity_ = enlarged;
        }
        size_ = size;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }

    // Queues a copy from `from` to this buffer. gpu_memory::to_device() says when the host memory is read.
    void upload(GpuQueue& queue, std::span<const T> from)
    {
        resize(from.size());
        gpu_memory::to_device(queue, data_, from.data(), from.size_bytes());
    }
    void download(GpuQueue& queue, std::span<T> to) const
    {
        PARHELION_EXPECTS(to.size() <= size_);
        gpu_memory::to_host(queue, to.data(), data_, to.size_bytes());
    }
    // Returns the elements. Waits for the GPU.
    std::vector<T> to_vector(GpuQueue& queue) const
    {
        std::vector<T> values(size_);
        download(queue, values);
        queue.synchronize();
        return values;
    }
    void clear(GpuQueue& queue) { gpu_memory::set_bytes(queue, data_, 0, size_ * sizeof(T)); }

private:
    void swap(DeviceBuffer& other) noexcept
    {
        std::swap(data_, other.data_), std::swap(size_, other.size_), std::swap(capacity_, other.capacity_);
        std::swap(is_lent_, other.is_lent_);
    }
    void give_back() noexcept
    {
        T* const data = std::exchange(data_, nullptr);
        const std::size_t capacity = std::exchange(capacity_, 0);
        if (!is_lent_) { gpu_memory::free(data, capacity * sizeof(T)); }
    }

    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
    bool is_lent_ = false;
};

// Pins whole pages of host memory, so that GPUs can read and write them. The pages must outlive this object. Throws DeviceError.
class PinnedPages
{
public:
    PinnedPages(void* pages, std::size_t bytes) : pages_(pages) { gpu_memory::pin(pages, bytes); }
    ~PinnedPages() { gpu_memory::unpin(pages_); }
    PinnedPages(const PinnedPages&) = delete;
    PinnedPages& operator=(const PinnedPages&) = delete;

private:
    void* pages_;
};

// Pinned host memory: the GPU reads and writes it while the host continues. It is not initialised.
template <class T>
class PinnedBuffer
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    PinnedBuffer() = default;
    explicit PinnedBuffer(std::size_t size) : data_(static_cast<T*>(gpu_memory::allocate_pinned(size * sizeof(T)))), size_(size)
    {
    }
    ~PinnedBuffer() { gpu_memory::free_pinned(data_); }
    PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
    PinnedBuffer& operator=(PinnedBuffer&& other) noexcept
    {
        swap(other);
        return *this;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    operator std::span<T>() { return {data_, size_}; }

private:
    void swap(PinnedBuffer& other) noexcept { std::swap(data_, other.data_), std::swap(size_, other.size_); }

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace parhelion
