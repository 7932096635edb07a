// SPDX-License-Identifier: Apache-2.0
// Machine instructions for which the vendor's language has no function, or whose form its compiler would choose. Each has one
// function, so that no other file has machine code. cuda/instructions.cuh says what each does.
#pragma once

#ifdef PARHELION_HIP
#include "device/gpu/hip/instructions.cuh"
#else
#include "device/gpu/cuda/instructions.cuh"
#endif
