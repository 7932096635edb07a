// SPDX-License-Identifier: Apache-2.0
// The vendor's runtime behind the names of gpu_api: CUDA's, or AMD's with -DPARHELION_HIP=ON (cuda/, hip/).
#pragma once

#include "device/device_memory_error.hpp"
#ifdef PARHELION_HIP
#include "device/gpu/hip/runtime.cuh"
#else
#include "device/gpu/cuda/runtime.cuh"
#endif

#include <string>

namespace parhelion {

// Throws DeviceError, or DeviceMemoryError, with the runtime's text if `status` is an error. `what` says in words what failed.
inline void gpu_check(gpu_api::Status status, const char* what)
{
    if (status == gpu_api::success) { return; }
    gpu_api::forget_error(); // clears the error, which the runtime would otherwise report again
    const std::string text = std::string(what) + ": " + gpu_api::text_of(status);
    if (status == gpu_api::out_of_memory) { throw DeviceMemoryError(text); }
    throw DeviceError(text);
}

} // namespace parhelion
