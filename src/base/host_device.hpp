// SPDX-License-Identifier: Apache-2.0
// Marks functions that run on host and device alike.
#pragma once

#ifdef __CUDACC__
#define PARHELION_HD __host__ __device__
#else
#define PARHELION_HD
#endif
