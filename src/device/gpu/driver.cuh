// SPDX-License-Identifier: Apache-2.0
// Functions of CUDA's driver, for what the runtime has no words for.
#pragma once

#include "device/gpu/launch.cuh"

#include <cuda.h>

#include <string>

namespace parhelion {

// The driver's functions are looked up, not linked: the program starts on machines without a driver.
template <class Function>
Function* driver_function(const char* name)
{
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cuda_check(cudaGetDriverEntryPointByVersion(name, &function, CUDART_VERSION, cudaEnableDefault, &found), name);
    if (found != cudaDriverEntryPointSuccess) { throw DeviceError(std::string(name) + ": the driver does not have it"); }
    return reinterpret_cast<Function*>(function);
}
#define PARHELION_DRIVER(name) driver_function<decltype(::name)>(#name)

inline void driver_check(CUresult status, const char* what)
{
    if (status == CUDA_SUCCESS) { return; }
    const char* text = "unknown error";
    PARHELION_DRIVER(cuGetErrorString)(status, &text);
    throw DeviceError(std::string(what) + ": " + text);
}

} // namespace parhelion
