// SPDX-License-Identifier: Apache-2.0
// Arithmetic in half precision: __half, __half2 and their functions, which both vendors name alike.
#pragma once

#ifdef PARHELION_HIP
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
