// SPDX-License-Identifier: Apache-2.0
// Memory that several GPUs address, and stores that a queue makes without a kernel, as the vendor's driver has them.
#pragma once

#ifdef PARHELION_HIP
#include "device/gpu/hip/driver.cuh"
#else
#include "device/gpu/cuda/driver.cuh"
#endif
