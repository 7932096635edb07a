// SPDX-License-Identifier: Apache-2.0
// Defines the macro that marks functions for both host and device code.
#pragma once

#ifdef __CUDACC__
#define PARHELION_HD __host__ __device__
#else
#define PARHELION_HD
#endif
