// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/queue_gpu.hpp"

#include "device/gpu/driver.cuh"

#include <atomic>
#include <cstdlib>

namespace parhelion {

namespace {
// The driver reads these variables when a GPU is first used. Values that the user has set take precedence. Loading
// a kernel at its first use can wait for running kernels, and a running kernel may wait for one that is not queued
// yet (rule D4 of docs/design/communication.md). Therefore all kernels are loaded at the start, which costs 0.15 s.
[[maybe_unused]] const int loads_at_once = setenv("CUDA_MODULE_LOADING", "EAGER", 0);
// Queues that share a hardware queue block each other when one waits (rule D5 there). The default is 8; this asks for 32.
[[maybe_unused]] const int hardware_queues = setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
} // namespace

int gpu_count()
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
    {
        cudaGetLastError(); // clears the error: a machine without a driver is allowed
        return 0;
    }
    return count;
}

// This kernel is never launched. Its attributes tell for which architecture kernels were compiled; newer GPUs run older code.
static __global__ void any_kernel() {}

GpuQueue::GpuQueue(int device, Priority priority) : device_(device)
{
    make_current();
    cudaDeviceProp properties;
    cuda_check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    multiprocessors_ = properties.multiProcessorCount;
    shared_bytes_of_block_ = properties.sharedMemPerBlockOptin;
    shared_bytes_of_multiprocessor_ = properties.sharedMemPerMultiprocessor;
    name_ = properties.name;
    cudaFuncAttributes attributes;
    cuda_check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(any_kernel)), "cudaFuncGetAttributes");
    launches_early_ = properties.major >= 9 && attributes.ptxVersion >= 90;
    int lowest = 0, highest = 0;
    cuda_check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
    cuda_check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority == Priority::First ? highest : lowest),
               "cudaStreamCreate");
    cudaEvent_t event = nullptr;
    cuda_check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming), "cudaEventCreate");
    done_ = event;
}

GpuQueue::~GpuQueue()
{
    cudaSetDevice(device_);
    cudaStreamSynchronize(stream_);
    cudaEventDestroy(static_cast<cudaEvent_t>(done_));
    cudaStreamDestroy(stream_);
}

void GpuQueue::make_current() const { cuda_check(cudaSetDevice(device_), "cudaSetDevice"); }

void GpuQueue::synchronize(Wait how)
{
    if (how == Wait::Spins) { return cuda_check(cudaStreamSynchronize(stream()), "waiting for the GPU"); }
    const auto event = static_cast<cudaEvent_t>(done_);
    cuda_check(cudaEventRecord(event, stream()), "cudaEventRecord");
    cuda_check(cudaEventSynchronize(event), "waiting for the GPU");
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
    if (bytes > 0) { cuda_check(cudaMalloc(&p, bytes), "cudaMalloc"); }
    count(static_cast<std::ptrdiff_t>(bytes));
    return p;
}
void free(void* device, std::size_t bytes) noexcept
{
    // cudaFree() invalidates a stream capture, even when called with nullptr.
    if (device != nullptr) { cudaFree(device); }
    count(-static_cast<std::ptrdiff_t>(bytes));
}
void* allocate_pinned(std::size_t bytes)
{
    void* p = nullptr;
    if (bytes > 0) { cuda_check(cudaMallocHost(&p, bytes), "cudaMallocHost"); }
    return p;
}
void free_pinned(void* host) noexcept { cudaFreeHost(host); }
void pin(void* host, std::size_t bytes)
{
    cuda_check(cudaHostRegister(host, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped), "cudaHostRegister");
}
void unpin(void* host) noexcept { cudaHostUnregister(host); }

void to_device(GpuQueue& queue, void* to, const void* from, std::size_t bytes)
{
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, queue.stream()), "copy to the GPU");
}
void to_host(GpuQueue& queue, void* to, const void* from, std::size_t bytes)
{
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, queue.stream()), "copy from the GPU");
}
void on_device(GpuQueue& queue, void* to, const void* from, std::size_t bytes)
{
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue.stream()), "copy on the GPU");
}
void set_bytes(GpuQueue& queue, void* to, int value, std::size_t bytes)
{
    cuda_check(cudaMemsetAsync(to, value, bytes, queue.stream()), "cudaMemset");
}

void set_words(GpuQueue& queue, std::span<const WordAt> words)
{
    static const auto queue_stores = PARHELION_DRIVER(cuStreamBatchMemOp);
    constexpr std::size_t most = 16;
    PARHELION_EXPECTS(words.size() <= most);
    CUstreamBatchMemOpParams stores[most] = {};
    for (std::size_t i = 0; i < words.size(); ++i)
    {
        auto& store = stores[i].writeValue;
        store.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
        store.address = reinterpret_cast<CUdeviceptr>(words[i].word);
        store.value64 = words[i].value;
        store.flags = CU_STREAM_WRITE_VALUE_DEFAULT; // includes a system-scope fence before the store
    }
    driver_check(queue_stores(queue.stream(), static_cast<unsigned>(words.size()), stores, 0), "cuStreamBatchMemOp");
}

} // namespace gpu_memory

} // namespace parhelion
