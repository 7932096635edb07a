// SPDX-License-Identifier: Apache-2.0
// The stand-in for CUDA's header of this name: half precision, two at a time.
#pragma once

#include <standin/vectors.hpp>

using __half = _Float16;
struct alignas(4) __half2
{
    __half x, y;
};
inline __half __float2half_rn(float v) { return static_cast<__half>(v); }
inline float __half2float(__half v) { return static_cast<float>(v); }
inline __half2 __floats2half2_rn(float x, float y) { return {static_cast<__half>(x), static_cast<__half>(y)}; }
inline __half2 __float2half2_rn(float v) { return __floats2half2_rn(v, v); }
inline float2 __half22float2(__half2 v) { return {static_cast<float>(v.x), static_cast<float>(v.y)}; }
inline float __low2float(__half2 v) { return static_cast<float>(v.x); }
inline float __high2float(__half2 v) { return static_cast<float>(v.y); }
inline __half2 __hmul2(__half2 a, __half2 b) { return {static_cast<__half>(a.x * b.x), static_cast<__half>(a.y * b.y)}; }
