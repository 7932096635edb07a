// SPDX-License-Identifier: Apache-2.0
// AMD's runtime (HIP) under the names of cuda/runtime.cuh, which says what they do. Compiled, not run on hardware.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace parhelion::gpu_api {

using Status = hipError_t;
inline constexpr Status out_of_memory = hipErrorOutOfMemory;
inline constexpr Status success = hipSuccess, not_ready = hipErrorNotReady, is_open_already = hipErrorPeerAccessAlreadyEnabled;
inline void forget_error() { static_cast<void>(hipGetLastError()); }
inline constexpr auto& text_of = hipGetErrorString;

// Kernels are loaded when the process starts, and queues get hardware queues of their own, for the reasons given for CUDA.
inline int set_environment() { return setenv("HIP_ENABLE_DEFERRED_LOADING", "0", 0) + setenv("GPU_MAX_HW_QUEUES", "32", 0); }

// --- GPUs

inline constexpr auto& count_gpus = hipGetDeviceCount;
inline constexpr auto& make_current = hipSetDevice;
inline constexpr auto& get_current = hipGetDevice;
inline constexpr auto& can_access = hipDeviceCanAccessPeer;
inline Status open_access(int to) { return hipDeviceEnablePeerAccess(to, 0); }

struct GpuProperties
{
    std::string name;
    int major = 0, minor = 0; // numbers of the architecture: 9 and 0 for gfx90a
    bool is_allowed = false;
    bool launches_early = false;
    int multiprocessors = 0, threads_of_multiprocessor = 0;
    std::size_t memory = 0, shared_bytes_of_block = 0, shared_bytes_of_multiprocessor = 0; // bytes
    double clock_ghz = 0;
    std::string architecture; // such as "gfx90a"
};
inline Status get_properties(GpuProperties& gpu, int device)
{
    hipDeviceProp_t properties;
    if (const Status status = hipGetDeviceProperties(&properties, device); status != success) { return status; }
    const std::string target = properties.gcnArchName; // such as "gfx90a:sramecc+:xnack-"
    gpu.name = properties.name;
    gpu.architecture = target.substr(0, target.find(':'));
    gpu.major = properties.major, gpu.minor = properties.minor;
    gpu.is_allowed = properties.computeMode != hipComputeModeProhibited;
    gpu.multiprocessors = properties.multiProcessorCount;
    gpu.threads_of_multiprocessor = properties.maxThreadsPerMultiProcessor;
    gpu.memory = properties.totalGlobalMem;
    gpu.shared_bytes_of_block = properties.sharedMemPerBlock;
    gpu.shared_bytes_of_multiprocessor = properties.maxSharedMemoryPerMultiProcessor;
    gpu.clock_ghz = 1e-6 * properties.clockRate;
    return success;
}
// AMD's machine code runs on its own architecture alone.
inline bool runs_code(const GpuProperties& gpu, const char* architectures)
{
    return ("," + std::string(architectures) + ",").find("," + gpu.architecture + ",") != std::string::npos;
}
inline Status get_link(int& access, int& atomics, int from, int to)
{
    const Status status = hipDeviceGetP2PAttribute(&access, hipDevP2PAttrAccessSupported, from, to);
    return status != success ? status : hipDeviceGetP2PAttribute(&atomics, hipDevP2PAttrNativeAtomicSupported, from, to);
}

// --- memory

inline Status allocate(void** memory, std::size_t bytes) { return hipMalloc(memory, bytes); }
inline void free(void* memory) { static_cast<void>(hipFree(memory)); }
inline Status allocate_pinned(void** memory, std::size_t bytes) { return hipHostMalloc(memory, bytes, hipHostMallocDefault); }
inline void free_pinned(void* host) { static_cast<void>(hipHostFree(host)); }
inline Status pin(void* host, std::size_t bytes)
{
    return hipHostRegister(host, bytes, hipHostRegisterPortable | hipHostRegisterMapped);
}
inline void unpin(void* host) { static_cast<void>(hipHostUnregister(host)); }
inline constexpr auto& set_bytes = hipMemset;
inline constexpr auto& queue_set_bytes = hipMemsetAsync;
inline constexpr auto& queue_copy = hipMemcpyAsync;
inline constexpr auto to_device = hipMemcpyHostToDevice, to_host = hipMemcpyDeviceToHost, on_device = hipMemcpyDeviceToDevice;

// --- streams and events

using Stream = hipStream_t;
inline Status make_stream(Stream* stream, bool is_first)
{
    int lowest = 0, highest = 0;
    const Status status = hipDeviceGetStreamPriorityRange(&lowest, &highest);
    if (status != success) { return status; }
    return hipStreamCreateWithPriority(stream, hipStreamNonBlocking, is_first ? highest : lowest);
}
inline void destroy_stream(Stream stream) { static_cast<void>(hipStreamDestroy(stream)); }
inline constexpr auto& synchronize_stream = hipStreamSynchronize;

using Event = hipEvent_t;
inline Status make_event(Event* event, bool sleeps)
{
    return hipEventCreateWithFlags(event, (sleeps ? hipEventBlockingSync : 0u) | hipEventDisableTiming);
}
inline void destroy_event(Event event) { static_cast<void>(hipEventDestroy(event)); }
inline Status record_event(Event event, Stream stream) { return hipEventRecord(event, stream); }
inline constexpr auto& query_event = hipEventQuery;
inline constexpr auto& await_event = hipEventSynchronize;
inline Status queue_wait(Stream stream, Event event) { return hipStreamWaitEvent(stream, event, 0); }

// --- graphs

using Graph = hipGraph_t;
using GraphNode = hipGraphNode_t;
using ExecutableGraph = hipGraphExec_t;
inline Status begin_capture(Stream stream) { return hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal); }
inline constexpr auto& end_capture = hipStreamEndCapture;
inline Status make_executable(ExecutableGraph* executable, Graph graph)
{
    return hipGraphInstantiateWithFlags(executable, graph, 0);
}
inline constexpr auto& launch_graph = hipGraphLaunch;
inline void destroy_graph(Graph graph) { static_cast<void>(hipGraphDestroy(graph)); }
inline void destroy_executable(ExecutableGraph executable) { static_cast<void>(hipGraphExecDestroy(executable)); }

struct Dependency
{
    GraphNode from, to;
    static constexpr bool is_on_begin() { return false; }
};
inline Status get_dependencies(std::vector<Dependency>& all, Graph graph)
{
    std::size_t count = 0;
    if (const Status status = hipGraphGetEdges(graph, nullptr, nullptr, &count); status != success) { return status; }
    std::vector<GraphNode> from(count), to(count);
    const Status status = hipGraphGetEdges(graph, from.data(), to.data(), &count);
    for (std::size_t e = 0; e < count; ++e) { all.push_back({from[e], to[e]}); }
    return status;
}
inline Status remove_dependency(Graph graph, const Dependency& d) { return hipGraphRemoveDependencies(graph, &d.from, &d.to, 1); }

// --- kernels

struct Launch
{
    dim3 blocks, threads;
    std::size_t shared_bytes;
    Stream stream;
    bool begins_early = false; // always false, as GpuProperties::launches_early is
    Event begun = nullptr;     // passes at the kernel's end
};
template <class... Parameters, class... Arguments>
Status launch(const Launch& as, void (*kernel)(Parameters...), const Arguments&... arguments)
{
    std::tuple<std::remove_const_t<Parameters>...> values(arguments...);
    const Status status = std::apply(
        [&](auto&... value) {
            void* addresses[] = {static_cast<void*>(std::addressof(value))..., nullptr};
            return hipLaunchKernel(reinterpret_cast<const void*>(kernel), as.blocks, as.threads, addresses, as.shared_bytes,
                                   as.stream);
        },
        values);
    return status != success || as.begun == nullptr ? status : hipEventRecord(as.begun, as.stream);
}

struct KernelProperties
{
    int registers = 0;
    std::size_t shared_bytes = 0, local_bytes = 0;
    bool begins_early = false;
};
inline Status get_kernel_properties(KernelProperties& kernel, const void* function)
{
    hipFuncAttributes attributes;
    const Status status = hipFuncGetAttributes(&attributes, function);
    if (status != success) { return status; }
    kernel = {attributes.numRegs, attributes.sharedSizeBytes, attributes.localSizeBytes, false};
    return status;
}
inline const char* symbol_of(const void* function) { return hipKernelNameRefByPtr(function, nullptr); }
template <class Kernel>
Status allow_shared_bytes(Kernel kernel, std::size_t bytes)
{
    return hipFuncSetAttribute(reinterpret_cast<const void*>(kernel), hipFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes));
}
// Does nothing: AMD's shared memory is not a part of a cache, so there is nothing to divide.
template <class Kernel>
Status prefer_shared_percent(Kernel, int)
{
    return success;
}
inline Status get_resident_blocks(int& blocks, const void* function, int threads, std::size_t shared_bytes)
{
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared_bytes);
}

} // namespace parhelion::gpu_api
