// SPDX-License-Identifier: Apache-2.0
// Functions of cuda_runtime.h over the imaginary GPUs of gpu.hpp: devices, streams, events, kernels, and how to come to the
// driver's. Others: graphs.cpp, memory.cpp.
#include "runtime.hpp"
#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>

using namespace standin;

namespace {

thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;
auto& machine_failure = *new std::string; // under the runtime's lock, and until the process ends

} // namespace

thread_local std::set<CUgraph_st*> standin::captures;

std::recursive_mutex& standin::runtime_mutex()
{
    static std::recursive_mutex& the_one = *new std::recursive_mutex;
    return the_one;
}

cudaError_t standin::failed(cudaError_t error)
{
    last_error = error;
    return error;
}
cudaError_t standin::outcome(const std::string& failure)
{
    if (failure.empty()) { return cudaSuccess; }
    const std::lock_guard lock(runtime_mutex());
    machine_failure = failure;
    return failed(cudaErrorLaunchFailure);
}

CUstream_st& standin::stream_of(cudaStream_t stream)
{
    if (stream != nullptr) { return *stream; }
    static auto& streams = *new std::vector<std::unique_ptr<CUstream_st>>;
    while (static_cast<int>(streams.size()) < machine().devices())
    {
        streams.push_back(std::make_unique<CUstream_st>(CUstream_st{static_cast<int>(streams.size()), {}, nullptr, {}}));
    }
    return *streams[static_cast<std::size_t>(current_device)];
}

std::shared_ptr<Operation> standin::append(CUstream_st& stream, Operation&& made)
{
    const auto operation = std::make_shared<Operation>(std::move(made));
    operation->device = stream.device;
    if (stream.captured_by != nullptr)
    {
        CUgraph_st& graph = *stream.captured_by;
        graph.nodes.push_back(operation);
        for (const Dependency& d : stream.last) { graph.edges.push_back({d.operation, operation, d.on_begin}); }
    }
    else
    {
        operation->after = stream.last;
        machine().queue(operation);
    }
    stream.last = {{operation, false}};
    return operation;
}

cudaError_t standin::append_work(cudaStream_t stream, std::function<void()> work)
{
    std::string failure;
    machine().are_met({}, failure);
    if (!failure.empty()) { return outcome(failure); }
    const std::lock_guard lock(runtime_mutex());
    Operation operation;
    operation.host = std::move(work);
    append(stream_of(stream), std::move(operation));
    return cudaSuccess;
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t error)
{
    switch (error)
    {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorNotReady:
        return "not ready";
    case cudaErrorLaunchFailure:
        return machine_failure.c_str();
    case cudaErrorStreamCaptureUnsupported:
        return "memory was allocated or freed during a capture";
    case cudaErrorStreamCaptureInvalidated:
        return "a captured stream was not joined before the end, or memory was allocated or freed meanwhile";
    default:
        return "the stand-in does not do this";
    }
}

// --- devices

cudaError_t cudaGetDeviceCount(int* count)
{
    *count = machine().devices();
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= machine().devices()) { return failed(cudaErrorInvalidValue); }
    current_device = device;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device)
{
    *device = current_device;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int)
{
    *properties = {};
    std::strcpy(properties->name, "stand-in for a GPU");
    properties->multiProcessorCount = machine().multiprocessors();
    properties->sharedMemPerBlockOptin = shared_bytes_of_block;
    properties->sharedMemPerMultiprocessor = shared_bytes_of_block + 1024;
    properties->totalGlobalMem = memory_bytes();
    properties->major = 9;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int)
{
    switch (attribute)
    {
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = standin::threads_of_multiprocessor;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = static_cast<int>(shared_bytes_of_block);
        break;
    case cudaDevAttrComputeMode:
        *value = 0;
        break; // for anybody
    case cudaDevAttrClockRate:
        *value = 1'000'000;
        break; // kHz
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int)
{
    *can = 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int)
{
    *value = 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest)
{
    *lowest = *highest = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return outcome(machine().wait_for_all()); }
cudaError_t cudaDeviceReset()
{
    machine().reset();
    last_error = cudaSuccess;
    return cudaSuccess;
}

// --- streams and events

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int)
{
    *stream = new CUstream_st{current_device, {}, nullptr, {}};
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const cudaError_t error = cudaStreamSynchronize(stream);
    delete stream;
    return error;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    std::vector<Dependency> last;
    {
        const std::lock_guard lock(runtime_mutex());
        if (stream_of(stream).captured_by != nullptr) { return failed(cudaErrorStreamCaptureInvalidated); }
        last = stream_of(stream).last;
    }
    return outcome(machine().wait(last));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    const std::lock_guard lock(runtime_mutex());
    CUstream_st& waits = stream_of(stream);
    if (event->captured_by != nullptr && waits.captured_by == nullptr) { waits.begin_capture(event->captured_by); }
    if (event->captured_by != waits.captured_by && !event->after.empty()) { return failed(cudaErrorStreamCaptureInvalidated); }
    for (const Dependency& d : event->after)
    {
        const bool is_there = std::any_of(waits.last.begin(), waits.last.end(), [&](const Dependency& other) {
            return other.operation == d.operation && other.on_begin == d.on_begin;
        });
        if (!is_there) { waits.last.push_back(d); }
    }
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned)
{
    *event = new CUevent_st;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const std::lock_guard lock(runtime_mutex());
    event->after = stream_of(stream).last;
    event->captured_by = stream_of(stream).captured_by;
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const std::lock_guard lock(runtime_mutex());
    std::string failure;
    const bool has_passed = machine().are_met(event->after, failure);
    if (!failure.empty()) { return outcome(failure); }
    return has_passed ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    std::vector<Dependency> after;
    {
        const std::lock_guard lock(runtime_mutex());
        after = event->after;
    }
    return outcome(machine().wait(after));
}

// --- kernels

namespace {
std::map<const void*, std::size_t> shared_limits; // of dynamic shared memory, by kernel; without an entry 48 KiB
}

cudaError_t standin::limit_shared_memory(const void* function, int bytes)
{
    if (bytes < 0 || static_cast<std::size_t>(bytes) > shared_bytes_of_block) { return failed(cudaErrorInvalidValue); }
    const std::lock_guard lock(runtime_mutex());
    shared_limits[function] = static_cast<std::size_t>(bytes);
    return cudaSuccess;
}

cudaError_t standin::launch(const cudaLaunchConfig_t& config, const void* function, std::function<void()> body)
{
    const auto index = [](const dim3& d) { return Index{d.x, d.y, d.z}; };
    const auto kernel = std::make_shared<const Kernel>(
        Kernel{function, index(config.gridDim), index(config.blockDim), config.dynamicSmemBytes, std::move(body)});
    constexpr int most_threads = 1024;
    if (kernel->block_count() < 1 || kernel->thread_count() < 1 || kernel->thread_count() > most_threads ||
        config.dynamicSmemBytes > shared_bytes_of_block)
    {
        return failed(cudaErrorInvalidValue);
    }
    const std::lock_guard lock(runtime_mutex());
    const auto limit = shared_limits.find(function);
    if (config.dynamicSmemBytes > (limit == shared_limits.end() ? std::size_t{48} * 1024 : limit->second))
    {
        return failed(cudaErrorInvalidValue);
    }
    CUstream_st& stream = stream_of(config.stream);
    Operation operation;
    operation.kernel = kernel;
    const auto queued = append(stream, std::move(operation));
    for (unsigned a = 0; a < config.numAttrs; ++a)
    {
        if (config.attrs[a].id != cudaLaunchAttributeLaunchCompletionEvent) { continue; }
        CUevent_st& begun = *config.attrs[a].val.launchCompletionEvent.event;
        begun.after = {{queued, true}};
        begun.captured_by = stream.captured_by;
    }
    return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*)
{
    *attributes = {.sharedSizeBytes = 0, .localSizeBytes = 0, .numRegs = 32, .ptxVersion = 90}; // made up
    return cudaSuccess;
}
cudaError_t cudaFuncGetName(const char** name, const void* function)
{
    static std::set<std::string> names;
    const std::lock_guard lock(runtime_mutex());
    *name = names.insert(standin::symbol_of(function)).first->c_str();
    return cudaSuccess;
}
int standin::blocks_that_fit(int threads) { return std::min(blocks_of_multiprocessor, threads_of_multiprocessor / threads); }

// --- the driver

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found)
{
    static const std::map<std::string, void*> functions{
        {"cuStreamBatchMemOp", reinterpret_cast<void*>(cuStreamBatchMemOp)},
        {"cuGetErrorString", reinterpret_cast<void*>(cuGetErrorString)},
        {"cuDeviceGetAttribute", reinterpret_cast<void*>(cuDeviceGetAttribute)},
        {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(cuMemGetAllocationGranularity)},
        {"cuMemCreate", reinterpret_cast<void*>(cuMemCreate)},
        {"cuMemRelease", reinterpret_cast<void*>(cuMemRelease)},
        {"cuMemExportToShareableHandle", reinterpret_cast<void*>(cuMemExportToShareableHandle)},
        {"cuMemImportFromShareableHandle", reinterpret_cast<void*>(cuMemImportFromShareableHandle)},
        {"cuMemAddressReserve", reinterpret_cast<void*>(cuMemAddressReserve)},
        {"cuMemAddressFree", reinterpret_cast<void*>(cuMemAddressFree)},
        {"cuMemMap", reinterpret_cast<void*>(cuMemMap)},
        {"cuMemUnmap", reinterpret_cast<void*>(cuMemUnmap)},
        {"cuMemSetAccess", reinterpret_cast<void*>(cuMemSetAccess)}};
    const auto at = functions.find(name);
    *found = at == functions.end() ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    *function = at == functions.end() ? nullptr : at->second;
    return cudaSuccess;
}
CUresult cuStreamBatchMemOp(CUstream_st* stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned)
{
    const cudaError_t status = append_work(stream, [all = std::vector(operations, operations + count)] {
        for (const CUstreamBatchMemOpParams& one : all)
        {
            auto& word = *reinterpret_cast<unsigned long*>(one.writeValue.address);
            std::atomic_ref(word).store(one.writeValue.value64, std::memory_order_release);
        }
    });
    return status == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}
CUresult cuGetErrorString(CUresult error, const char** text)
{
    *text = error == CUDA_ERROR_LAUNCH_FAILED ? machine_failure.c_str() : "out of memory";
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice)
{
    *value = 1;
    return CUDA_SUCCESS;
}
