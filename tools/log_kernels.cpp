// SPDX-License-Identifier: Apache-2.0
// Which kernels a program launches: a library that the CUDA driver loads into it (CUDA_INJECTION64_PATH) and that, at its end,
// appends their names to the file PARHELION_KERNEL_LOG. Used by sanitize_gpu.py; a kernel that is captured into a graph counts.
#include <cupti.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>

namespace {

std::mutex mutex;
std::set<std::string> names;

void CUPTIAPI note_launch(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data)
{
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (call.callbackSite != CUPTI_API_ENTER || call.symbolName == nullptr) { return; }
    const std::lock_guard lock(mutex);
    names.insert(call.symbolName);
}

void write_names()
{
    const char* const path = std::getenv("PARHELION_KERNEL_LOG");
    std::ofstream file(path == nullptr ? "kernels.txt" : path, std::ios::app);
    for (const std::string& name : names) { file << name << '\n'; }
}

} // namespace

extern "C" int InitializeInjection()
{
    CUpti_SubscriberHandle subscriber;
    if (cuptiSubscribe(&subscriber, note_launch, nullptr) != CUPTI_SUCCESS) { return 0; }
    for (const auto call : {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060})
    {
        cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, call);
    }
    std::atexit(write_names);
    return 1;
}
