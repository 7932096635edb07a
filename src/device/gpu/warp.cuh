// SPDX-License-Identifier: Apache-2.0
// Operations of the 32 lanes of a warp. cuda/warp.cuh says what each does. A wave of an AMD GPU holds two warps.
#pragma once

#ifdef PARHELION_HIP
#include "device/gpu/hip/warp.cuh"
#else
#include "device/gpu/cuda/warp.cuh"
#endif
