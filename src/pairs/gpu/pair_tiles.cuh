// SPDX-License-Identifier: Apache-2.0
// Functions for kernels that read a GpuPairList: which lane of a warp computes which pair of a tile, and distances.
#pragma once

#include "device/gpu/warp.cuh"
#include "pairs/gpu/pair_list_gpu.hpp"
#include "state/gpu/zones.cuh"

namespace parhelion::pair_tiles {

constexpr int j_lanes = cluster_size / 2; // the lane of j atom j also has j atom j + 4 of the cluster
constexpr float margin = 1 + 1e-5f;       // factor on cut-offs, for the rounding of leading bits to floats
constexpr float spreading = 0.1f;         // nm by which a supercluster may become larger until the next list is built

__device__ inline int i_of_lane(int lane) { return lane / j_lanes; }
__device__ inline int j_of_lane(int lane) { return lane % j_lanes; }
// Tells the compiler that a value is the same in all lanes, so that branches on it need no convergence barrier.
__device__ inline unsigned uniform(unsigned value) { return bits_of_lanes(value); }
__device__ inline int uniform(int value) { return static_cast<int>(uniform(static_cast<unsigned>(value))); }

using gpu_zones::leading;

// The tilt of the periodic box. Coordinates along edges, nm, are fractions times Box::diagonal(). in_space() makes them
// Cartesian; extent() converts the half size of a bounding box to that of the Cartesian box around it; along_edges() converts a
// distance between faces to coordinates along edges. In a rectangular box the functions return their arguments.
template <bool tilted>
struct Lean
{
    Lean() = default;
    __device__ explicit Lean(const DeviceScalars&) {}
    __device__ Vec3<float> in_space(const Vec3<float>& difference) const { return difference; }
    __device__ Vec3<float> extent(const Vec3<float>& half) const { return half; }
    __device__ Vec3<float> along_edges(float between_faces) const { return {between_faces, between_faces, between_faces}; }
};
template <>
struct Lean<true>
{
    Vec3<float> shear, per_height; // Box::shear(); the diagonal divided by the heights of the box

    Lean() = default;
    __device__ explicit Lean(const DeviceScalars& scalars) : shear(static_cast<Vec3<float>>(scalars.shear))
    {
        const auto diagonal = static_cast<Vec3<float>>(scalars.nm_per_unit.diagonal()),
                   height = static_cast<Vec3<float>>(scalars.height_per_unit);
        per_height = {diagonal.x / height.x, diagonal.y / height.y, diagonal.z / height.z};
    }
    __device__ Vec3<float> in_space(const Vec3<float>& d) const
    {
        return {fmaf(shear.y, d.z, fmaf(shear.x, d.y, d.x)), fmaf(shear.z, d.z, d.y), d.z};
    }
    __device__ Vec3<float> extent(const Vec3<float>& half) const
    {
        return {half.x + fabsf(shear.x) * half.y + fabsf(shear.y) * half.z, half.y + fabsf(shear.z) * half.z, half.z};
    }
    __device__ Vec3<float> along_edges(float between_faces) const { return between_faces * per_height; }
};

// nm per unit of the leading 32 bits of positions, along each edge.
template <bool tilted>
struct Scale
{
    float x, y, z;
    Lean<tilted> lean;
};
template <class N, bool tilted>
__device__ Scale<tilted> leading_scale(const DeviceScalars& scalars)
{
    constexpr double spread = sizeof(typename N::Fixed) == 8 ? 4294967296.0 : 1.0;
    const Vec3<double>& s = scalars.nm_per_unit.diagonal();
    return {static_cast<float>(s.x * spread), static_cast<float>(s.y * spread), static_cast<float>(s.z * spread),
            Lean<tilted>(scalars)};
}

__device__ inline float offset(std::uint32_t a, std::uint32_t b, float nm_per_unit)
{
    return static_cast<float>(static_cast<std::int32_t>(a - b)) * nm_per_unit;
}

} // namespace parhelion::pair_tiles
