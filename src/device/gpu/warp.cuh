// SPDX-License-Identifier: Apache-2.0
// What the 32 lanes of a warp do together: hand values to each other, vote, add up. A function for each, so that no kernel has
// the words of one vendor. All lanes of the warp must call it, at the same place. Cost: an instruction for each 4 bytes.
#pragma once

#include <cstdint>

namespace parhelion {

inline constexpr unsigned all_lanes_mask = 0xffffffff;

// What all lanes of the warp wrote before is read by them after.
__device__ inline void warp_barrier() { __syncwarp(); }

// --- values of other lanes

// Of lane `lane` modulo 32.
template <class T>
__device__ inline T from_lane(T value, int lane)
{
    return __shfl_sync(all_lanes_mask, value, lane);
}
// Of the lane so far below or above this one; its own where there is none.
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
// Of the lane whose number differs in these bits.
template <class T>
__device__ inline T from_lane_across(T value, int bits)
{
    return __shfl_xor_sync(all_lanes_mask, value, bits);
}

// --- votes and reductions

// A bit for each lane.
__device__ inline std::uint32_t lanes_where(bool condition) { return __ballot_sync(all_lanes_mask, condition); }
__device__ inline bool any_lane(bool condition) { return __any_sync(all_lanes_mask, condition) != 0; }
// T: int or unsigned.
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
