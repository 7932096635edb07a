// SPDX-License-Identifier: Apache-2.0
// Selects the instruction sets for which the SIMD kernels are compiled. Include this file before any Highway
// header. SSE4 is the least. No instruction set between AVX2 and AVX-512 would be worth its compile time.
#pragma once

#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HWY_COMPILE_ONLY_STATIC // one instruction set, because sanitizers multiply compile times
#endif
#endif
