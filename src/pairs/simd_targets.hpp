// SPDX-License-Identifier: Apache-2.0
// Which instruction sets the SIMD kernels are compiled for. Include before any header of Highway.
// SSE4 is the least we run on; between AVX2 and AVX-512 lies nothing that would earn its compile time.
#pragma once

#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HWY_COMPILE_ONLY_STATIC // a sanitizer makes the kernels several times as long to compile; one set of them is enough
#endif
#endif
