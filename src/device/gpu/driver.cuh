// SPDX-License-Identifier: Apache-2.0
// Calls functions of the CUDA driver that the CUDA runtime has no equivalent for.
#pragma once

#include "device/gpu/launch.cuh"

#include <cuda.h>

#include <string>

namespace parhelion {

// Returns a function of the driver by its name. The driver is not linked, so the program starts on machines without it.
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
    if (status == CUDA_ERROR_OUT_OF_MEMORY) { throw DeviceMemoryError(std::string(what) + ": " + text); }
    throw DeviceError(std::string(what) + ": " + text);
}

} // namespace parhelion
