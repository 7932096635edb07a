// SPDX-License-Identifier: Apache-2.0
// Defines the macro that marks functions for both host and device code, and one that is defined where device code is compiled.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define PARHELION_HD __host__ __device__
#else
#define PARHELION_HD
#endif

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define PARHELION_ON_DEVICE
#endif
