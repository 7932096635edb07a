// SPDX-License-Identifier: Apache-2.0
// AMD's version of cuda/warp.cuh, which says what each function does. A warp is half a wave of 64 lanes, or a wave of 32.
// The halves of a wave work in lockstep, but each may call these functions while the other does something else.
// Compiled, not run on hardware.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

namespace parhelion {

// All lanes of a wave execute the same instruction. So this orders memory accesses for the compiler and for the
// caches of a wave alone.
__device__ inline void warp_barrier()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// --- values of other lanes

inline constexpr int lanes_of_warp = 32;

template <class T>
__device__ inline T from_lane(T value, int lane)
{
    return __shfl(value, lane, lanes_of_warp);
}
template <class T>
__device__ inline T from_lane_below(T value, int distance)
{
    return __shfl_up(value, static_cast<unsigned>(distance), lanes_of_warp);
}
template <class T>
__device__ inline T from_lane_above(T value, int distance)
{
    return __shfl_down(value, static_cast<unsigned>(distance), lanes_of_warp);
}
template <class T>
__device__ inline T from_lane_across(T value, int bits)
{
    return __shfl_xor(value, bits, lanes_of_warp);
}

// --- votes and reductions

__device__ inline std::uint32_t lanes_where(bool condition)
{
    const std::uint64_t lanes_of_wave = __ballot(condition);
    return static_cast<std::uint32_t>(lanes_of_wave >> (__lane_id() & 32u)); // the bits of this lane's half
}
__device__ inline bool any_lane(bool condition) { return lanes_where(condition) != 0; }

// Returns `combine` of all lanes' values, in five exchanges.
template <class T, class Combine>
__device__ inline T over_lanes(T value, Combine combine)
{
    for (int bits = lanes_of_warp / 2; bits > 0; bits /= 2) { value = combine(value, from_lane_across(value, bits)); }
    return value;
}
template <class T>
__device__ inline T sum_of_lanes(T value)
{
    return over_lanes(value, [](T a, T b) { return a + b; });
}
template <class T>
__device__ inline T least_of_lanes(T value)
{
    return over_lanes(value, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
__device__ inline T greatest_of_lanes(T value)
{
    return over_lanes(value, [](T a, T b) { return a < b ? b : a; });
}
__device__ inline std::uint32_t bits_of_lanes(std::uint32_t value)
{
    return over_lanes(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
}

} // namespace parhelion
