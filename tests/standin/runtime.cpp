// SPDX-License-Identifier: Apache-2.0
// The functions of cuda_runtime.h and cuda.h, over the imaginary GPUs of gpu.hpp.
#include "gpu.hpp"
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using standin::Dependency;
using standin::Machine;
using standin::Operation;

struct CUgraph_st
{
    struct Edge
    {
        std::shared_ptr<Operation> from, to;
        bool on_begin;
    };
    std::vector<std::shared_ptr<Operation>> nodes; // in an order that edges follow
    std::vector<Edge> edges;
    std::set<CUstream_st*> streams; // that are captured
    bool is_invalid = false;        // something was called meanwhile that must not be
};
struct CUgraphExec_st
{
    CUgraph_st graph;
};
struct CUstream_st
{
    int device;
    std::vector<Dependency> last; // what is queued next waits for these
    CUgraph_st* captured_by = nullptr;
    std::vector<Dependency> before_capture;

    void begin_capture(CUgraph_st* graph)
    {
        captured_by = graph;
        graph->streams.insert(this);
        before_capture = std::exchange(last, {});
    }
    void end_capture()
    {
        captured_by = nullptr;
        last = std::exchange(before_capture, {});
    }
};
struct CUevent_st
{
    std::vector<Dependency> after;
    CUgraph_st* captured_by = nullptr;
};

namespace {

thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;
thread_local std::set<CUgraph_st*> captures; // that this thread has begun

// One lock for streams, events and memory: hosts may be several threads.
struct Shared
{
    std::recursive_mutex mutex;
    std::map<const char*, std::size_t> pinned; // begin, bytes
    std::map<void*, std::size_t> device_memory;
    std::size_t held = 0;
    std::string failure;
    std::vector<std::unique_ptr<CUstream_st>> default_streams;
};
Shared& shared()
{
    static Shared& the_one = *new Shared;
    return the_one;
}
Machine& machine() { return Machine::instance(); }

cudaError_t failed(cudaError_t error)
{
    last_error = error;
    return error;
}
// CUDA refuses to allocate and to free, even nothing, in a thread that captures; and what it captures is lost.
bool is_refused_by_captures()
{
    for (CUgraph_st* const graph : captures) { graph->is_invalid = true; }
    return !captures.empty();
}
cudaError_t outcome(const std::string& failure)
{
    if (failure.empty()) { return cudaSuccess; }
    const std::lock_guard lock(shared().mutex);
    shared().failure = failure;
    return failed(cudaErrorLaunchFailure);
}

CUstream_st& stream_of(cudaStream_t stream)
{
    if (stream != nullptr) { return *stream; }
    auto& streams = shared().default_streams;
    while (static_cast<int>(streams.size()) < machine().devices())
    {
        streams.push_back(std::make_unique<CUstream_st>(CUstream_st{static_cast<int>(streams.size()), {}, nullptr, {}}));
    }
    return *streams[static_cast<std::size_t>(current_device)];
}

// To the stream's end: of its graph, if it is captured.
std::shared_ptr<Operation> append(CUstream_st& stream, Operation&& made)
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

cudaError_t append_work(cudaStream_t stream, std::function<void()> work)
{
    std::string failure;
    machine().are_met({}, failure);
    if (!failure.empty()) { return outcome(failure); }
    const std::lock_guard lock(shared().mutex);
    Operation operation;
    operation.host = std::move(work);
    append(stream_of(stream), std::move(operation));
    return cudaSuccess;
}

bool is_pinned(const void* memory)
{
    const auto at = static_cast<const char*>(memory);
    auto next = shared().pinned.upper_bound(at);
    if (next == shared().pinned.begin()) { return false; }
    --next;
    return at < next->first + next->second;
}

void* allocate(std::size_t bytes, std::size_t alignment = 256)
{
    void* memory = nullptr;
    if (posix_memalign(&memory, alignment, bytes) != 0)
    {
        return nullptr;
    }                                 // of the size asked for: sanitizers see what is beyond
    std::memset(memory, 0xff, bytes); // no more zeros than on a GPU
    return memory;
}

} // namespace

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t error)
{
    switch (error)
    {
    case cudaSuccess:
        return "no error";
    case cudaErrorNotReady:
        return "not ready";
    case cudaErrorLaunchFailure:
        return shared().failure.c_str();
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
namespace {
constexpr std::size_t memory_bytes = std::size_t{1} << 34, shared_bytes_of_block = 227 * 1024;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int)
{
    *properties = {};
    std::strcpy(properties->name, "stand-in for a GPU");
    properties->multiProcessorCount = machine().multiprocessors();
    properties->sharedMemPerBlockOptin = shared_bytes_of_block;
    properties->sharedMemPerMultiprocessor = shared_bytes_of_block + 1024;
    properties->totalGlobalMem = memory_bytes;
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

// --- memory

cudaError_t cudaMalloc(void** memory, std::size_t bytes)
{
    if (is_refused_by_captures()) { return failed(cudaErrorStreamCaptureUnsupported); }
    *memory = allocate(bytes);
    const std::lock_guard lock(shared().mutex);
    shared().device_memory[*memory] = bytes;
    shared().held += bytes;
    return cudaSuccess;
}
cudaError_t cudaFree(void* memory)
{
    if (is_refused_by_captures()) { return failed(cudaErrorStreamCaptureUnsupported); }
    if (memory == nullptr) { return cudaSuccess; }
    const std::lock_guard lock(shared().mutex); // whoever frees waits, and lets nobody else queue meanwhile
    machine().wait_for_all();
    const auto found = shared().device_memory.find(memory);
    if (found == shared().device_memory.end()) { return failed(cudaErrorInvalidValue); }
    shared().held -= found->second;
    shared().device_memory.erase(found);
    std::free(memory);
    return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes)
{
    *memory = allocate(bytes);
    const std::lock_guard lock(shared().mutex);
    shared().pinned[static_cast<const char*>(*memory)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
cudaError_t cudaFreeHost(void* memory)
{
    if (memory == nullptr) { return cudaSuccess; }
    const std::lock_guard lock(shared().mutex);
    machine().wait_for_all();
    if (shared().pinned.erase(static_cast<const char*>(memory)) == 0) { return failed(cudaErrorInvalidValue); }
    std::free(memory);
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total)
{
    const std::lock_guard lock(shared().mutex);
    *total = memory_bytes, *free = memory_bytes - shared().held;
    return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) { return cudaMemsetAsync(to, value, bytes, nullptr); }
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream)
{
    return append_work(stream, [=] {
        if (bytes > 0) { std::memset(to, value, bytes); }
    });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    const std::lock_guard lock(shared().mutex);
    if (kind == cudaMemcpyHostToDevice && stream_of(stream).captured_by == nullptr && !is_pinned(from))
    {
        const auto begin = static_cast<const char*>(from);
        return append_work(stream, [to, copy = std::vector<char>(begin, begin + bytes)] {
            if (!copy.empty()) { std::memcpy(to, copy.data(), copy.size()); }
        });
    }
    return append_work(stream, [=] {
        if (bytes > 0) { std::memmove(to, from, bytes); }
    });
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
        const std::lock_guard lock(shared().mutex);
        if (stream_of(stream).captured_by != nullptr) { return failed(cudaErrorStreamCaptureInvalidated); }
        last = stream_of(stream).last;
    }
    return outcome(machine().wait(last));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    const std::lock_guard lock(shared().mutex);
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
    const std::lock_guard lock(shared().mutex);
    event->after = stream_of(stream).last;
    event->captured_by = stream_of(stream).captured_by;
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const std::lock_guard lock(shared().mutex);
    std::string failure;
    const bool has_passed = machine().are_met(event->after, failure);
    if (!failure.empty()) { return outcome(failure); }
    return has_passed ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    std::vector<Dependency> after;
    {
        const std::lock_guard lock(shared().mutex);
        after = event->after;
    }
    return outcome(machine().wait(after));
}

// --- graphs

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    const std::lock_guard lock(shared().mutex);
    const auto graph = new CUgraph_st;
    captures.insert(graph);
    stream->begin_capture(graph);
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph)
{
    const std::lock_guard lock(shared().mutex);
    *graph = stream->captured_by;
    if (*graph == nullptr) { return failed(cudaErrorStreamCaptureInvalidated); }
    captures.erase(*graph);
    // Every operation must lead to the end of this stream.
    std::set<const Operation*> joined;
    for (const Dependency& d : stream->last) { joined.insert(d.operation.get()); }
    for (const CUgraph_st::Edge& edge : (*graph)->edges) { joined.insert(edge.from.get()); }
    const bool are_all = std::all_of((*graph)->nodes.begin(), (*graph)->nodes.end(),
                                     [&](const std::shared_ptr<Operation>& node) { return joined.contains(node.get()); });
    for (CUstream_st* const captured : (*graph)->streams) { captured->end_capture(); }
    (*graph)->streams.clear();
    if (are_all && !(*graph)->is_invalid) { return cudaSuccess; }
    delete std::exchange(*graph, nullptr);
    return failed(cudaErrorStreamCaptureInvalidated);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              std::size_t* count)
{
    if (from == nullptr) { *count = graph->edges.size(); }
    else
    {
        for (std::size_t e = 0; e < *count; ++e)
        {
            const CUgraph_st::Edge& edge = graph->edges[e];
            from[e] = reinterpret_cast<cudaGraphNode_t>(edge.from.get()),
            to[e] = reinterpret_cast<cudaGraphNode_t>(edge.to.get());
            data[e].from_port = edge.on_begin ? cudaGraphKernelNodePortLaunchCompletion : cudaGraphKernelNodePortDefault;
        }
    }
    return cudaSuccess;
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* data, std::size_t count)
{
    for (std::size_t e = 0; e < count; ++e)
    {
        const std::size_t removed = std::erase_if(graph->edges, [&](const CUgraph_st::Edge& edge) {
            return reinterpret_cast<cudaGraphNode_t>(edge.from.get()) == from[e] &&
                   reinterpret_cast<cudaGraphNode_t>(edge.to.get()) == to[e] &&
                   edge.on_begin == (data[e].from_port != cudaGraphKernelNodePortDefault);
        });
        if (removed == 0) { return failed(cudaErrorInvalidValue); }
    }
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long)
{
    *executable = new CUgraphExec_st{*graph};
    return cudaSuccess;
}
// Copies of all nodes, and one behind them all.
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    const std::lock_guard lock(shared().mutex);
    CUstream_st& queue = stream_of(stream);
    const CUgraph_st& graph = executable->graph;
    std::map<const Operation*, std::shared_ptr<Operation>> copies;
    for (const auto& node : graph.nodes)
    {
        const auto copy = std::make_shared<Operation>();
        copy->host = node->host, copy->kernel = node->kernel, copy->device = node->device;
        copies[node.get()] = copy;
    }
    for (const CUgraph_st::Edge& edge : graph.edges)
    {
        copies.at(edge.to.get())->after.push_back({copies.at(edge.from.get()), edge.on_begin});
    }
    Operation end;
    for (const auto& node : graph.nodes)
    {
        const auto& copy = copies.at(node.get());
        if (copy->after.empty()) { copy->after = queue.last; }
        end.after.push_back({copy, false});
    }
    for (const auto& node : graph.nodes) { machine().queue(copies.at(node.get())); }
    queue.last.insert(queue.last.end(), end.after.begin(), end.after.end());
    append(queue, std::move(end));
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    delete executable;
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

// --- kernels

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
    const std::lock_guard lock(shared().mutex);
    CUstream_st& stream = stream_of(config.stream);
    Operation operation;
    operation.kernel = kernel;
    const auto queued = append(stream, std::move(operation));
    for (unsigned a = 0; a < config.numAttrs; ++a)
    {
        CUevent_st& begun = *config.attrs[a].val.launchCompletionEvent.event;
        begun.after = {{queued, true}};
        begun.captured_by = stream.captured_by;
    }
    return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*)
{
    *attributes = {.sharedSizeBytes = 0, .localSizeBytes = 0, .numRegs = 32}; // made up
    return cudaSuccess;
}
cudaError_t cudaFuncGetName(const char** name, const void* function)
{
    static std::set<std::string> names;
    const std::lock_guard lock(shared().mutex);
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
    *text = error == CUDA_ERROR_LAUNCH_FAILED ? shared().failure.c_str() : "out of memory";
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice)
{
    *value = 1;
    return CUDA_SUCCESS;
}
// Pages that other processes may map are a file without a name; of others all there is to know comes with the address.
namespace {

constexpr std::size_t page = 4096;
constexpr CUmemGenericAllocationHandle private_pages = 1;

CUmemGenericAllocationHandle handle_of(int descriptor) { return static_cast<CUmemGenericAllocationHandle>(descriptor) + 2; }
int descriptor_of(CUmemGenericAllocationHandle pages) { return static_cast<int>(pages) - 2; }

CUresult map_at(CUdeviceptr at, std::size_t bytes, int flags, int descriptor)
{
    void* const mapped = ::mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_FIXED | flags, descriptor, 0);
    return mapped == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

} // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags)
{
    *granularity = properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ? 256 : page;
    return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* pages, std::size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long)
{
    *pages = private_pages;
    if (properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE) { return CUDA_SUCCESS; }
    const int descriptor = ::memfd_create("standin", MFD_CLOEXEC);
    if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) { return CUDA_ERROR_OUT_OF_MEMORY; }
    *pages = handle_of(descriptor);
    return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle pages)
{
    if (pages != private_pages) { ::close(descriptor_of(pages)); }
    return CUDA_SUCCESS;
}
CUresult cuMemExportToShareableHandle(void* descriptor, CUmemGenericAllocationHandle pages, CUmemAllocationHandleType,
                                      unsigned long long)
{
    *static_cast<int*>(descriptor) = ::dup(descriptor_of(pages));
    return CUDA_SUCCESS;
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* pages, void* descriptor, CUmemAllocationHandleType)
{
    *pages = handle_of(::dup(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor))));
    return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* at, std::size_t bytes, std::size_t alignment, CUdeviceptr, unsigned long long)
{
    void* const memory = allocate(bytes, alignment);
    *at = reinterpret_cast<CUdeviceptr>(memory);
    return memory == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr at, std::size_t)
{
    machine().wait_for_all();
    std::free(reinterpret_cast<void*>(at));
    return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr at, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle pages, unsigned long long)
{
    return pages == private_pages ? CUDA_SUCCESS : map_at(at, bytes, MAP_SHARED, descriptor_of(pages));
}
CUresult cuMemUnmap(CUdeviceptr at, std::size_t bytes)
{
    machine().wait_for_all();
    // Whole pages may have been a file's: what takes their place is the process's own, and may be freed.
    return at % page == 0 && bytes % page == 0 ? map_at(at, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1) : CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) { return CUDA_SUCCESS; }
