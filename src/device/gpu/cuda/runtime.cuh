// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime under the names that device/gpu uses. hip/runtime.cuh has the same names for AMD's runtime. A name without a
// comment does exactly what the function behind it does. Functions return a Status, for gpu_check(), but callers must ignore the
// Status of functions that free or destroy.
#pragma once

#include "device/host_gpus.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

namespace parhelion::gpu_api {

using Status = cudaError_t;
inline constexpr Status out_of_memory = cudaErrorMemoryAllocation;
inline constexpr Status success = cudaSuccess, not_ready = cudaErrorNotReady, is_open_already = cudaErrorPeerAccessAlreadyEnabled;
inline void forget_error() { cudaGetLastError(); }
inline constexpr auto& text_of = cudaGetErrorString;

// Sets variables that the driver reads when a GPU is first used. Values that the user has set take precedence. Loading
// a kernel at its first use can wait for running kernels, and a running kernel may wait for one that is not queued
// yet (rule D4 of docs/design/communication.md). Therefore all kernels are loaded at the start, which costs 0.15 s.
// Queues that share a hardware queue block each other when one waits (rule D5 there). The default is 8; this asks for 32.
inline int set_environment()
{
    return setenv("CUDA_MODULE_LOADING", "EAGER", 0) + setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

// --- GPUs

inline constexpr auto& count_gpus = cudaGetDeviceCount;
inline constexpr auto& make_current = cudaSetDevice;
inline constexpr auto& get_current = cudaGetDevice;
inline constexpr auto& can_access = cudaDeviceCanAccessPeer;
inline Status open_access(int to) { return cudaDeviceEnablePeerAccess(to, 0); } // lets the current GPU access the memory of `to`

struct GpuProperties
{
    std::string name;
    int major = 0, minor = 0;    // compute capability
    bool is_allowed = false;     // false if the GPU's compute mode prohibits programs
    bool launches_early = false; // true if Launch::begins_early is possible for kernels whose code knows of it
    int multiprocessors = 0, threads_of_multiprocessor = 0;
    std::size_t memory = 0, shared_bytes_of_block = 0, shared_bytes_of_multiprocessor = 0; // bytes
    double clock_ghz = 0;
};
inline Status get_properties(GpuProperties& gpu, int device)
{
    cudaDeviceProp properties;
    if (const Status status = cudaGetDeviceProperties(&properties, device); status != success) { return status; }
    gpu.name = properties.name;
    gpu.major = properties.major, gpu.minor = properties.minor;
    gpu.launches_early = gpu.major >= 9;
    gpu.multiprocessors = properties.multiProcessorCount;
    gpu.memory = properties.totalGlobalMem;
    gpu.shared_bytes_of_block = properties.sharedMemPerBlockOptin;
    gpu.shared_bytes_of_multiprocessor = properties.sharedMemPerMultiprocessor;
    int mode = 0, clock_khz = 0;
    Status status = cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device);
    if (status == success) { status = cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device); }
    if (status == success)
    {
        status = cudaDeviceGetAttribute(&gpu.threads_of_multiprocessor, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    }
    gpu.is_allowed = mode != cudaComputeModeProhibited;
    gpu.clock_ghz = 1e-6 * clock_khz;
    return status;
}
// Returns true if code for `architectures`, a list as in CMake, runs on this GPU.
inline bool runs_code(const GpuProperties& gpu, const char* architectures)
{
    return runs_code_for(architectures, gpu.major, gpu.minor);
}
// Sets whether GPU `from` can access the memory of GPU `to`, and whether its atomic operations are atomic there.
inline Status get_link(int& access, int& atomics, int from, int to)
{
    const Status status = cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, from, to);
    return status != success ? status : cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to);
}

// --- memory

inline Status allocate(void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }
inline constexpr auto& free = cudaFree;
inline Status allocate_pinned(void** memory, std::size_t bytes) { return cudaMallocHost(memory, bytes); }
inline constexpr auto& free_pinned = cudaFreeHost;
inline Status pin(void* host, std::size_t bytes) // for all GPUs
{
    return cudaHostRegister(host, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
}
inline constexpr auto& unpin = cudaHostUnregister;
inline constexpr auto& set_bytes = cudaMemset;
inline constexpr auto& queue_set_bytes = cudaMemsetAsync;
inline constexpr auto& queue_copy = cudaMemcpyAsync;
inline constexpr auto to_device = cudaMemcpyHostToDevice, to_host = cudaMemcpyDeviceToHost, on_device = cudaMemcpyDeviceToDevice;

// --- streams and events

using Stream = cudaStream_t;
inline Status make_stream(Stream* stream, bool is_first) // is_first: with the highest priority, otherwise with the lowest
{
    int lowest = 0, highest = 0;
    const Status status = cudaDeviceGetStreamPriorityRange(&lowest, &highest);
    if (status != success) { return status; }
    return cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, is_first ? highest : lowest);
}
inline constexpr auto& destroy_stream = cudaStreamDestroy;
inline constexpr auto& synchronize_stream = cudaStreamSynchronize;

using Event = cudaEvent_t;
inline Status make_event(Event* event, bool sleeps) // sleeps: host threads that wait for it sleep
{
    return cudaEventCreateWithFlags(event, (sleeps ? cudaEventBlockingSync : 0u) | cudaEventDisableTiming);
}
inline constexpr auto& destroy_event = cudaEventDestroy;
inline Status record_event(Event event, Stream stream) { return cudaEventRecord(event, stream); }
inline constexpr auto& query_event = cudaEventQuery;
inline constexpr auto& await_event = cudaEventSynchronize;
inline Status queue_wait(Stream stream, Event event) { return cudaStreamWaitEvent(stream, event, 0); }

// --- graphs

using Graph = cudaGraph_t;
using GraphNode = cudaGraphNode_t;
using ExecutableGraph = cudaGraphExec_t;
inline Status begin_capture(Stream stream) { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); }
inline constexpr auto& end_capture = cudaStreamEndCapture;
inline Status make_executable(ExecutableGraph* executable, Graph graph) // priorities of queues are kept
{
    return cudaGraphInstantiate(executable, graph, cudaGraphInstantiateFlagUseNodePriority);
}
inline constexpr auto& launch_graph = cudaGraphLaunch;
inline constexpr auto& destroy_graph = cudaGraphDestroy;
inline constexpr auto& destroy_executable = cudaGraphExecDestroy;

struct Dependency
{
    GraphNode from, to;
    cudaGraphEdgeData data;
    bool is_on_begin() const
    {
        return data.from_port != cudaGraphKernelNodePortDefault;
    } // `to` waits until `from` has begun, not until it has ended
};
inline Status get_dependencies(std::vector<Dependency>& all, Graph graph)
{
    std::size_t count = 0;
    if (const Status status = cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count); status != success) { return status; }
    std::vector<GraphNode> from(count), to(count);
    std::vector<cudaGraphEdgeData> data(count);
    const Status status = cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count);
    for (std::size_t e = 0; e < count; ++e) { all.push_back({from[e], to[e], data[e]}); }
    return status;
}
inline Status remove_dependency(Graph graph, const Dependency& d)
{
    return cudaGraphRemoveDependencies(graph, &d.from, &d.to, &d.data, 1);
}

// --- kernels

struct Launch
{
    dim3 blocks, threads;
    std::size_t shared_bytes;
    Stream stream;
    bool begins_early = false; // see LaunchShape
    Event begun = nullptr;     // passes when all blocks have begun; may be null
};
template <class... Parameters, class... Arguments>
Status launch(const Launch& as, void (*kernel)(Parameters...), const Arguments&... arguments)
{
    cudaLaunchConfig_t config{};
    config.gridDim = as.blocks;
    config.blockDim = as.threads;
    config.dynamicSmemBytes = as.shared_bytes;
    config.stream = as.stream;
    cudaLaunchAttribute attributes[2] = {};
    config.attrs = attributes;
    if (as.begins_early)
    {
        cudaLaunchAttribute& early = attributes[config.numAttrs++];
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
    }
    if (as.begun != nullptr)
    {
        cudaLaunchAttribute& begun = attributes[config.numAttrs++];
        begun.id = cudaLaunchAttributeLaunchCompletionEvent;
        begun.val.launchCompletionEvent.event = as.begun;
    }
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

struct KernelProperties
{
    int registers = 0;                             // per thread
    std::size_t shared_bytes = 0, local_bytes = 0; // static shared memory per block; local memory per thread
    bool begins_early = false;                     // true if the kernel's code knows of launches that begin early
};
inline Status get_kernel_properties(KernelProperties& kernel, const void* function)
{
    cudaFuncAttributes attributes;
    const Status status = cudaFuncGetAttributes(&attributes, function);
    if (status != success) { return status; }
    kernel = {attributes.numRegs, attributes.sharedSizeBytes, attributes.localSizeBytes, attributes.ptxVersion >= 90};
    return status;
}
// Returns the mangled name of a kernel, nullptr if the runtime does not tell it.
inline const char* symbol_of(const void* function)
{
    const char* symbol = nullptr;
    return cudaFuncGetName(&symbol, function) == success ? symbol : nullptr;
}
template <class Kernel>
Status allow_shared_bytes(Kernel kernel, std::size_t bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}
template <class Kernel>
Status prefer_shared_percent(Kernel kernel, int percent)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent);
}
// Sets the number of blocks that run on a multiprocessor at once.
inline Status get_resident_blocks(int& blocks, const void* function, int threads, std::size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared_bytes);
}

} // namespace parhelion::gpu_api
