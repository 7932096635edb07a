// SPDX-License-Identifier: Apache-2.0
// The queue of a GPU: a stream of one device, which runs kernels and copies one after another. It is the first
// argument of every compute function, and its type selects the overload. This header needs no CUDA: kernels and
// the vendor's headers stay in .cu and .cuh files.
//
// Only synchronize() and the destructor wait for the GPU. One thread may drive the queues of several GPUs: each use
// of a queue makes its GPU the current one of the runtime.
#pragma once

#include "device/gpu/handles.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace parhelion {

// Returns the number of GPUs, 0 without a driver. This program may be unable to use some of them (device/host_gpus.hpp).
int gpu_count();

class BlockTracer;

class GpuQueue
{
public:
    enum class Priority
    {
        Normal,
        First // high priority: its blocks start before waiting blocks of other queues
    };

    // Creates a stream on GPU `device` and makes that GPU current. Throws DeviceError.
    explicit GpuQueue(int device = 0, Priority priority = Priority::Normal);
    ~GpuQueue();
    GpuQueue(const GpuQueue&) = delete;
    GpuQueue& operator=(const GpuQueue&) = delete;

    // Makes this queue's GPU the calling thread's current one, on which memory is allocated and events are created.
    void make_current() const;
    // Returns the stream. Makes its GPU current for the calling thread as well, because most uses of the stream need that.
    StreamHandle stream() const
    {
        make_current();
        return stream_;
    }
    int device() const { return device_; }
    int multiprocessors() const { return multiprocessors_; }
    // Return bytes of shared memory: the maximum of a thread block after opting in
    // (99 KiB on some GPUs, 227 KiB on others), and the total of a multiprocessor.
    std::size_t shared_bytes_of_block() const { return shared_bytes_of_block_; }
    std::size_t shared_bytes_of_multiprocessor() const { return shared_bytes_of_multiprocessor_; }
    const std::string& name() const { return name_; }       // such as "NVIDIA H200"
    bool launches_early() const { return launches_early_; } // true if LaunchShape::begins_early is possible: compute capability 9

    // The tracer that records the blocks of kernels launched on this queue; none by default.
    BlockTracer* tracer() const { return tracer_; }
    void set_tracer(BlockTracer* tracer) { tracer_ = tracer; }

    // Waits until all queued work is done. Throws DeviceError for any error since the last call.
    enum class Wait
    {
        Sleeps, // sleeps, and wakes some tens of microseconds late
        Spins   // spins, for work that takes microseconds
    };
    void synchronize(Wait how = Wait::Sleeps);

private:
    int device_ = 0, multiprocessors_ = 0;
    std::size_t shared_bytes_of_block_ = 0, shared_bytes_of_multiprocessor_ = 0;
    std::string name_;
    bool launches_early_ = false;
    StreamHandle stream_ = nullptr;
    BlockTracer* tracer_ = nullptr;
    EventHandle done_ = nullptr; // event on which synchronize() sleeps
};

// Untyped memory, for DeviceBuffer and PinnedBuffer. Device memory is allocated on the current GPU; all GPUs can
// access pinned memory. Throws DeviceError; returns nullptr for 0 bytes.
namespace gpu_memory {
void* allocate(std::size_t bytes);
void free(void* device, std::size_t bytes) noexcept; // `bytes` must be the number that was allocated
// Returns the bytes of device memory that buffers and arenas of this process hold, summed over all GPUs.
std::size_t held();
// Returns the bytes of held() that the calling thread has allocated, less those that it has freed. Other threads do not change
// it.
std::ptrdiff_t allocated_by_thread();
void count(std::ptrdiff_t bytes); // adds `bytes` (may be negative) of memory allocated elsewhere to held()
void* allocate_pinned(std::size_t bytes);
void free_pinned(void* host) noexcept;
void pin(void* host, std::size_t bytes); // `host`: whole pages that are already allocated
void unpin(void* host) noexcept;
// The next functions queue copies. Unpinned host memory is read before the call returns, written before synchronize() returns.
void to_device(GpuQueue& queue, void* to, const void* from, std::size_t bytes);
void to_host(GpuQueue& queue, void* to, const void* from, std::size_t bytes);
void on_device(GpuQueue& queue, void* to, const void* from, std::size_t bytes);
void set_bytes(GpuQueue& queue, void* to, int value, std::size_t bytes);
struct WordAt
{
    std::uint64_t* word; // may be in the memory of any GPU that this one can address
    std::uint64_t value;
};
// Queues stores to at most 16 words, in order. Each store happens when all work queued earlier is visible
// to all GPUs and the host. No kernel is launched, so no free place on a multiprocessor is needed.
void set_words(GpuQueue& queue, std::span<const WordAt> words);
} // namespace gpu_memory

} // namespace parhelion
