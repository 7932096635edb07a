// SPDX-License-Identifier: Apache-2.0
// What the kernels that walk a GpuPairList share: which lane of a warp has which pair of a tile, and distances.
#pragma once

#include "device/gpu/warp.cuh"
#include "pairs/gpu/pair_list_gpu.hpp"
#include "state/gpu/zones.cuh"

namespace parhelion::pair_tiles {

constexpr std::uint32_t all_lanes = 0xffffffff;
constexpr int j_lanes = cluster_size / 2; // a lane has two j atoms, j_lanes apart
constexpr float margin = 1 + 1e-5f;       // of cut-offs: distances in lists are float, and of leading bits only
constexpr float spreading = 0.1f;         // nm that a supercluster may grow by until the next list

__device__ inline int i_of_lane(int lane) { return lane / j_lanes; }
__device__ inline int j_of_lane(int lane) { return lane % j_lanes; }
// A value that is the same in all lanes, so that the compiler knows it: branches on it need no convergence barrier.
__device__ inline unsigned uniform(unsigned value) { return bits_of_lanes(value); }
__device__ inline int uniform(int value) { return static_cast<int>(uniform(static_cast<unsigned>(value))); }

using gpu_zones::leading;

// nm per unit of the leading 32 bits.
struct Scale
{
    float x, y, z;
};
template <class N>
__device__ Scale leading_scale(const DeviceScalars& scalars)
{
    constexpr double spread = sizeof(typename N::Fixed) == 8 ? 4294967296.0 : 1.0;
    const Vec3<double>& s = scalars.nm_per_unit.diagonal();
    return {static_cast<float>(s.x * spread), static_cast<float>(s.y * spread), static_cast<float>(s.z * spread)};
}

__device__ inline float offset(std::uint32_t a, std::uint32_t b, float nm_per_unit)
{
    return static_cast<float>(static_cast<std::int32_t>(a - b)) * nm_per_unit;
}

} // namespace parhelion::pair_tiles
