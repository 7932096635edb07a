// SPDX-License-Identifier: Apache-2.0
// A GPU that is stuck, for the program as its users have it: a library that the CUDA driver loads into it
// (CUDA_INJECTION64_PATH). A queue of GPU PARHELION_STALL_GPU comes to a wait for what never happens, before kernel number
// PARHELION_STALL_AT_KERNEL (from 1; a replayed graph counts for a hundred). Used by tests/python/test_faults.py.
#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>

namespace {

constexpr std::int64_t kernels_of_graph = 100;

template <class Function>
Function* driver_function(const char* name)
{
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    return driver == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(driver, name));
}
#define STALL_DRIVER(name) driver_function<decltype(::name)>(#name)

std::int64_t asked(const char* variable, std::int64_t otherwise)
{
    const char* const value = std::getenv(variable);
    return value == nullptr ? otherwise : std::atoll(value);
}

// Work that is captured is not on its way yet.
bool is_of_stalled_gpu(CUstream stream)
{
    static const auto stalled = static_cast<CUdevice>(asked("PARHELION_STALL_GPU", 0));
    CUdevice device = -1;
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return STALL_DRIVER(cuCtxGetDevice)(&device) == CUDA_SUCCESS && device == stalled &&
           STALL_DRIVER(cuStreamIsCapturing)(stream, &capturing) == CUDA_SUCCESS && capturing == CU_STREAM_CAPTURE_STATUS_NONE;
}

void stall(CUstream stream)
{
    void* word = nullptr;
    STALL_DRIVER(cuMemHostAlloc)(&word, sizeof(cuuint32_t), CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    *static_cast<cuuint32_t*>(word) = 0;
    STALL_DRIVER(cuStreamWaitValue32_v2)(stream, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_EQ);
}

void CUPTIAPI count_launch(void*, CUpti_CallbackDomain, CUpti_CallbackId id, const void* data)
{
    static const std::int64_t limit = asked("PARHELION_STALL_AT_KERNEL", 200'000);
    static std::atomic<std::int64_t> launched{0};
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (call.callbackSite != CUPTI_API_ENTER) { return; }
    CUstream stream = nullptr;
    std::int64_t kernels = 1;
    switch (id)
    {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
        stream = static_cast<const cuGraphLaunch_params*>(call.functionParams)->hStream;
        kernels = kernels_of_graph;
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
        stream = static_cast<const cuLaunchKernel_params*>(call.functionParams)->hStream;
        break;
    default:
        stream = static_cast<const cuLaunchKernelEx_params*>(call.functionParams)->config->hStream;
    }
    if (!is_of_stalled_gpu(stream)) { return; }
    const std::int64_t before = launched.fetch_add(kernels);
    if (before < limit && before + kernels >= limit) { stall(stream); }
}

} // namespace

extern "C" int InitializeInjection()
{
    CUpti_SubscriberHandle subscriber;
    if (cuptiSubscribe(&subscriber, count_launch, nullptr) != CUPTI_SUCCESS) { return 0; }
    for (const auto call : {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx})
    {
        cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call);
    }
    return 1;
}
