// SPDX-License-Identifier: Apache-2.0
// The GPU's queue: a stream of one device, on which kernels and copies run one after another. It is the first argument of every
// compute function, whose overload it selects. This header needs no CUDA: kernels and <cuda_runtime.h> stay in .cu and .cuh
// files.
//
// Nothing here waits for the GPU but synchronize() and the destructor. One thread may drive the queues of several GPUs: the
// runtime's notion of a current GPU follows the queue that was used last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

struct CUstream_st;

namespace parhelion {

// GPUs there are, of which this program may not be able to use some (device/host_gpus.hpp); 0 without a driver.
int gpu_count();

class BlockTracer;

class GpuQueue
{
public:
    enum class Priority
    {
        Normal,
        First // its blocks take the next free places, before those that wait already
    };

    // A stream of its own on GPU `device`, which is then current. Throws DeviceError.
    explicit GpuQueue(int device = 0, Priority priority = Priority::Normal);
    ~GpuQueue();
    GpuQueue(const GpuQueue&) = delete;
    GpuQueue& operator=(const GpuQueue&) = delete;

    // Makes this queue's GPU the calling thread's: where memory is allocated and events are created from here on.
    void make_current() const;
    // The stream, on the GPU that is then the calling thread's, since most uses want that.
    CUstream_st* stream() const
    {
        make_current();
        return stream_;
    }
    int device() const { return device_; }
    int multiprocessors() const { return multiprocessors_; }
    // Shared memory that a thread block may have if it is allowed to (99 KiB on some GPUs, 227 on others), and that those on a
    // multiprocessor have together.
    std::size_t shared_bytes_of_block() const { return shared_bytes_of_block_; }
    std::size_t shared_bytes_of_multiprocessor() const { return shared_bytes_of_multiprocessor_; }
    const std::string& name() const { return name_; } // "NVIDIA H200"

    // Records the blocks of what is launched here; none unless set.
    BlockTracer* tracer() const { return tracer_; }
    void set_tracer(BlockTracer* tracer) { tracer_ = tracer; }

    // Until everything queued is done. Throws DeviceError for whatever went wrong since the last call.
    enum class Wait
    {
        Sleeps, // and wakes some tens of microseconds late
        Spins   // for what takes microseconds
    };
    void synchronize(Wait how = Wait::Sleeps);

private:
    int device_ = 0, multiprocessors_ = 0;
    std::size_t shared_bytes_of_block_ = 0, shared_bytes_of_multiprocessor_ = 0;
    std::string name_;
    CUstream_st* stream_ = nullptr;
    BlockTracer* tracer_ = nullptr;
    void* done_ = nullptr; // event that a sleeping host waits for
};

// Untyped memory, for DeviceBuffer and PinnedBuffer. Device memory is the current GPU's, pinned memory within reach of all.
// Throws DeviceError; nullptr for 0 bytes.
namespace gpu_memory {
void* allocate(std::size_t bytes);
void free(void* device, std::size_t bytes) noexcept; // as many as were allocated
// Device memory that buffers and arenas of this process hold, on all GPUs, bytes.
std::size_t held();
void count(std::ptrdiff_t bytes); // of memory from elsewhere: so much more, or less
void* allocate_pinned(std::size_t bytes);
void free_pinned(void* host) noexcept;
void pin(void* host, std::size_t bytes); // whole pages that are there already
void unpin(void* host) noexcept;
// Queued; host memory that is not pinned is read before the call returns, and written before synchronize() does.
void to_device(GpuQueue& queue, void* to, const void* from, std::size_t bytes);
void to_host(GpuQueue& queue, void* to, const void* from, std::size_t bytes);
void on_device(GpuQueue& queue, void* to, const void* from, std::size_t bytes);
void set_bytes(GpuQueue& queue, void* to, int value, std::size_t bytes);
struct WordAt
{
    std::uint64_t* word; // in the memory of any GPU that this one reaches
    std::uint64_t value;
};
// Queued: sets up to 16 words one after another, each once all that was queued before is visible to all GPUs and the host. Takes
// no kernel, so no room on a multiprocessor.
void set_words(GpuQueue& queue, std::span<const WordAt> words);
} // namespace gpu_memory

} // namespace parhelion
