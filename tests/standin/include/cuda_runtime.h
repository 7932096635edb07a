// SPDX-License-Identifier: Apache-2.0
// The stand-in for CUDA's header of this name: of its functions those that are used here, with CUDA's own meaning.
#pragma once

#include <standin/kernel_language.hpp>

#include <cstddef>
#include <functional>
#include <tuple>

inline constexpr int CUDART_VERSION = 13000;

enum cudaError_t
{
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNotReady = 600,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901
};
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);

// --- devices

struct cudaDeviceProp
{
    char name[256];
    int multiProcessorCount;
    std::size_t sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalGlobalMem;
    int major, minor;
};
enum cudaDeviceAttr
{
    cudaDevAttrMaxThreadsPerMultiProcessor,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrComputeMode,
    cudaDevAttrClockRate
};
inline constexpr int cudaComputeModeProhibited = 2;
enum cudaDeviceP2PAttr
{
    cudaDevP2PAttrAccessSupported,
    cudaDevP2PAttrNativeAtomicSupported
};
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to);
cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to);
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags);
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset(); // forgets an error; everything queued is done before

// --- memory

enum cudaMemcpyKind
{
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice
};
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMallocHost(void** memory, std::size_t bytes);
cudaError_t cudaFreeHost(void* memory);
constexpr unsigned cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2;
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* memory);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, struct CUstream_st* stream);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, struct CUstream_st* stream);

// --- streams and events

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
inline constexpr unsigned cudaStreamNonBlocking = 1, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);

// --- graphs

using cudaGraph_t = struct CUgraph_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
inline constexpr unsigned char cudaGraphKernelNodePortDefault = 0, cudaGraphKernelNodePortLaunchCompletion = 2;
struct cudaGraphEdgeData
{
    unsigned char from_port;
};
enum cudaStreamCaptureMode
{
    cudaStreamCaptureModeThreadLocal
};
inline constexpr unsigned long long cudaGraphInstantiateFlagUseNodePriority = 8;
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
// Without arrays: only how many there are.
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              std::size_t* count);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* data, std::size_t count);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

// --- kernels

enum cudaLaunchAttributeID
{
    cudaLaunchAttributeLaunchCompletionEvent,
    cudaLaunchAttributeProgrammaticStreamSerialization // kernels here end before the next begins, all the same
};
struct cudaLaunchAttribute
{
    cudaLaunchAttributeID id;
    struct
    {
        struct
        {
            cudaEvent_t event;
            int flags;
        } launchCompletionEvent;
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t
{
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};
namespace standin {
int blocks_that_fit(int threads); // on a multiprocessor
cudaError_t launch(const cudaLaunchConfig_t& config, const void* function, std::function<void()> body);
cudaError_t limit_shared_memory(const void* function, int bytes);
} // namespace standin
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments)
{
    return standin::launch(*config, reinterpret_cast<const void*>(kernel),
                           [kernel, copies = std::tuple<std::remove_const_t<Parameters>...>(
                                        std::forward<Arguments>(arguments)...)] { std::apply(kernel, copies); });
}

enum cudaFuncAttribute
{
    cudaFuncAttributeMaxDynamicSharedMemorySize,
    cudaFuncAttributePreferredSharedMemoryCarveout
};
struct cudaFuncAttributes
{
    std::size_t sharedSizeBytes, localSizeBytes;
    int numRegs, ptxVersion;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t cudaFuncGetName(const char** name, const void* function);
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) { return cudaSuccess; }
    return standin::limit_shared_memory(reinterpret_cast<const void*>(kernel), value);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int threads, std::size_t)
{
    *blocks = standin::blocks_that_fit(threads);
    return cudaSuccess;
}

// --- the driver's functions by name

enum cudaDriverEntryPointQueryResult
{
    cudaDriverEntryPointSuccess,
    cudaDriverEntryPointSymbolNotFound
};
inline constexpr unsigned long long cudaEnableDefault = 0;
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* found);
