// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/queue_gpu.hpp"

#include "device/gpu/driver.cuh"

#include <atomic>
#include <cstdlib>

namespace parhelion {

[[maybe_unused]] static const int environment = gpu_api::set_environment();

int gpu_count()
{
    int count = 0;
    if (gpu_api::count_gpus(&count) != gpu_api::success)
    {
        gpu_api::forget_error(); // clears the error: a machine without a driver is allowed
        return 0;
    }
    return count;
}

// This kernel is never launched. Its attributes tell for which architecture kernels were compiled; newer GPUs run older code.
static __global__ void any_kernel() {}

GpuQueue::GpuQueue(int device, Priority priority) : device_(device)
{
    make_current();
    gpu_api::GpuProperties properties;
    gpu_check(gpu_api::get_properties(properties, device), "properties of a GPU");
    multiprocessors_ = properties.multiprocessors;
    shared_bytes_of_block_ = properties.shared_bytes_of_block;
    shared_bytes_of_multiprocessor_ = properties.shared_bytes_of_multiprocessor;
    name_ = properties.name;
    gpu_api::KernelProperties kernel;
    gpu_check(gpu_api::get_kernel_properties(kernel, reinterpret_cast<const void*>(any_kernel)), "properties of a kernel");
    launches_early_ = properties.launches_early && kernel.begins_early;
    gpu_check(gpu_api::make_stream(&stream_, priority == Priority::First), "making a stream");
    gpu_api::Event event = nullptr;
    gpu_check(gpu_api::make_event(&event, true), "making an event");
    done_ = event;
}

GpuQueue::~GpuQueue()
{
    static_cast<void>(gpu_api::make_current(device_)); // a destructor has no use for errors
    static_cast<void>(gpu_api::synchronize_stream(stream_));
    gpu_api::destroy_event(done_);
    gpu_api::destroy_stream(stream_);
}

void GpuQueue::make_current() const { gpu_check(gpu_api::make_current(device_), "choosing a GPU"); }

void GpuQueue::synchronize(Wait how)
{
    if (how == Wait::Spins) { return gpu_check(gpu_api::synchronize_stream(stream()), "waiting for the GPU"); }
    gpu_check(gpu_api::record_event(done_, stream()), "recording an event");
    gpu_check(gpu_api::await_event(done_), "waiting for the GPU");
}

namespace gpu_memory {

namespace {
std::atomic<std::ptrdiff_t> held_bytes = 0;
thread_local std::ptrdiff_t bytes_of_thread = 0;
} // namespace

std::size_t held() { return static_cast<std::size_t>(held_bytes.load(std::memory_order_relaxed)); }
std::ptrdiff_t allocated_by_thread() { return bytes_of_thread; }
void count(std::ptrdiff_t bytes)
{
    held_bytes.fetch_add(bytes, std::memory_order_relaxed);
    bytes_of_thread += bytes;
}

void* allocate(std::size_t bytes)
{
    void* p = nullptr;
    if (bytes > 0) { gpu_check(gpu_api::allocate(&p, bytes), "allocating memory of the GPU"); }
    count(static_cast<std::ptrdiff_t>(bytes));
    return p;
}
void free(void* device, std::size_t bytes) noexcept
{
    // free() of the runtime invalidates a stream capture, even when called with nullptr.
    if (device != nullptr) { gpu_api::free(device); }
    count(-static_cast<std::ptrdiff_t>(bytes));
}
void* allocate_pinned(std::size_t bytes)
{
    void* p = nullptr;
    if (bytes > 0) { gpu_check(gpu_api::allocate_pinned(&p, bytes), "allocating pinned memory"); }
    return p;
}
void free_pinned(void* host) noexcept { gpu_api::free_pinned(host); }
void pin(void* host, std::size_t bytes) { gpu_check(gpu_api::pin(host, bytes), "pinning memory"); }
void unpin(void* host) noexcept { gpu_api::unpin(host); }

void to_device(GpuQueue& queue, void* to, const void* from, std::size_t bytes)
{
    gpu_check(gpu_api::queue_copy(to, from, bytes, gpu_api::to_device, queue.stream()), "copy to the GPU");
}
void to_host(GpuQueue& queue, void* to, const void* from, std::size_t bytes)
{
    gpu_check(gpu_api::queue_copy(to, from, bytes, gpu_api::to_host, queue.stream()), "copy from the GPU");
}
void on_device(GpuQueue& queue, void* to, const void* from, std::size_t bytes)
{
    gpu_check(gpu_api::queue_copy(to, from, bytes, gpu_api::on_device, queue.stream()), "copy on the GPU");
}
void set_bytes(GpuQueue& queue, void* to, int value, std::size_t bytes)
{
    gpu_check(gpu_api::queue_set_bytes(to, value, bytes, queue.stream()), "setting memory of the GPU");
}

void set_words(GpuQueue& queue, std::span<const WordAt> words) { gpu_api::queue_stores(queue.stream(), words); }

} // namespace gpu_memory

} // namespace parhelion
