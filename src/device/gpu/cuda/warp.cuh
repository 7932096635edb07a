// SPDX-License-Identifier: Apache-2.0
// Operations of the 32 lanes of a warp: exchange of values, votes, reductions. Kernels call these functions so that they contain
// no names of one vendor. All lanes of the warp must call them, at the same place. Cost: one instruction for each 4 bytes.
#pragma once

#include <cstdint>

namespace parhelion {

inline constexpr unsigned all_lanes_mask = 0xffffffff;

// Waits for all lanes. Writes of all lanes before the barrier are visible to all lanes after it.
__device__ inline void warp_barrier() { __syncwarp(); }

// --- values of other lanes

// Returns the value that lane number `lane` modulo 32 passed.
template <class T>
__device__ inline T from_lane(T value, int lane)
{
    return __shfl_sync(all_lanes_mask, value, lane);
}
// Return the value of the lane `distance` below or above this lane, or this lane's own value if there is no such lane.
template <class T>
__device__ inline T from_lane_below(T value, int distance)
{
    return __shfl_up_sync(all_lanes_mask, value, distance);
}
template <class T>
__device__ inline T from_lane_above(T value, int distance)
{
    return __shfl_down_sync(all_lanes_mask, value, distance);
}
// Returns the value of the lane whose number differs from this lane's in exactly `bits` (exclusive or).
template <class T>
__device__ inline T from_lane_across(T value, int bits)
{
    return __shfl_xor_sync(all_lanes_mask, value, bits);
}

// --- votes and reductions

// Returns a mask with a bit set for each lane whose condition is true.
__device__ inline std::uint32_t lanes_where(bool condition) { return __ballot_sync(all_lanes_mask, condition); }
__device__ inline bool any_lane(bool condition) { return __any_sync(all_lanes_mask, condition) != 0; }
// Returns the sum over all lanes. T: int or unsigned.
template <class T>
__device__ inline T sum_of_lanes(T value)
{
    return __reduce_add_sync(all_lanes_mask, value);
}
template <class T>
__device__ inline T least_of_lanes(T value)
{
    return __reduce_min_sync(all_lanes_mask, value);
}
template <class T>
__device__ inline T greatest_of_lanes(T value)
{
    return __reduce_max_sync(all_lanes_mask, value);
}
__device__ inline std::uint32_t bits_of_lanes(std::uint32_t value) { return __reduce_or_sync(all_lanes_mask, value); }

} // namespace parhelion
