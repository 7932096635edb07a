// SPDX-License-Identifier: Apache-2.0
// Distances between bounding boxes of clusters and superclusters, the only test of the pair search. `lone`: a single rank has all
// atoms. Cost: about 20 instructions for two boxes; in a tilted box about 60, and more if several images are possible.
#pragma once

#include "pairs/gpu/pair_tiles.cuh"

#include <cmath>
#include <cstdint>

namespace parhelion::pair_tiles {

// Returns the distance between two coordinates, nm, by the shorter way around the box. With several ranks, in a
// divided dimension, it is the distance in the unrolled box. Differences are exact before they are rounded.
template <bool lone>
__device__ float apart(const GpuCell& cell, int d, std::uint32_t a, std::uint32_t b, float nm)
{
    if (lone || !cell.is_divided(d)) { return fabsf(offset(a, b, nm)); }
    return static_cast<float>(cell.unrolled(d, a) >= cell.unrolled(d, b) ? a - b : b - a) * nm;
}

// Returns the squared distance between two bounding boxes in a rectangular periodic box, nm^2.
template <bool lone>
__device__ float gap2(const GpuCell& cell, const AtomBounds& a, const AtomBounds& b, const Scale<false>& nm, float)
{
    const float x = fmaxf(apart<lone>(cell, 0, a.x, b.x, nm.x) - (a.half_x + b.half_x), 0.0f);
    const float y = fmaxf(apart<lone>(cell, 1, a.y, b.y, nm.y) - (a.half_y + b.half_y), 0.0f);
    const float z = fmaxf(apart<lone>(cell, 2, a.z, b.z, nm.z) - (a.half_z + b.half_z), 0.0f);
    return x * x + y * y + z * z;
}

// Returns the squared distance between two bounding boxes in a tilted periodic box, by the Cartesian boxes around them; infinite
// if distances between faces exceed the cutoff. The nearest image of a middle need not be that of the atoms. So this is the least
// distance of all images that may be nearest, or 0 if more than two along an edge may be (a low box, wide clusters).
template <bool lone>
__device__ float gap2(const GpuCell& cell, const AtomBounds& a, const AtomBounds& b, const Scale<true>& nm, float cutoff)
{
    const Vec3<std::uint32_t> from{a.x, a.y, a.z}, to{b.x, b.y, b.z};
    const Vec3<float> unit{nm.x, nm.y, nm.z}, half{a.half_x + b.half_x, a.half_y + b.half_y, a.half_z + b.half_z},
        reach = half + nm.lean.along_edges(cutoff), extent = nm.lean.extent(half);
    Vec3<float> way, beyond; // way: from b to a along the edges; beyond: from b to a's image on the other side of b
    unsigned others = 0;     // a bit for each dimension in which the image beyond b may be the nearest
    for (int d = 0; d < 3; ++d)
    {
        const bool is_unrolled = !lone && cell.is_divided(d);
        const bool is_ahead =
            is_unrolled ? cell.unrolled(d, from[d]) >= cell.unrolled(d, to[d]) : static_cast<std::int32_t>(from[d] - to[d]) >= 0;
        const std::uint32_t units = is_ahead ? from[d] - to[d] : to[d] - from[d];
        const float distance = static_cast<float>(units) * unit[d], rest = static_cast<float>(0u - units) * unit[d];
        way[d] = is_ahead ? distance : -distance, beyond[d] = is_ahead ? -rest : rest;
        if (is_unrolled) { continue; }
        if (margin * reach[d] > 4294967296.0f * unit[d]) { return 0; }
        others |= units > 0 && rest < margin * reach[d] ? 1u << d : 0;
    }
    float least = INFINITY;
    for (unsigned chosen = others;; chosen = (chosen - 1) & others) // every subset, the empty one last
    {
        const Vec3<float> along{(chosen & 1) != 0 ? beyond.x : way.x, (chosen & 2) != 0 ? beyond.y : way.y,
                                (chosen & 4) != 0 ? beyond.z : way.z};
        if (fabsf(along.x) < reach.x && fabsf(along.y) < reach.y && fabsf(along.z) < reach.z)
        {
            const Vec3<float> between = nm.lean.in_space(along);
            const float x = fmaxf(fabsf(between.x) - extent.x, 0.0f), y = fmaxf(fabsf(between.y) - extent.y, 0.0f),
                        z = fmaxf(fabsf(between.z) - extent.z, 0.0f);
            least = fminf(least, x * x + y * y + z * z);
        }
        if (chosen == 0) { return least; }
    }
}

// Returns true if another rank may list atoms of the two boxes, because they may be within the cutoff by another way around.
template <bool tilted>
__device__ bool are_ambiguous(const GpuCell& cell, const AtomBounds& a, const AtomBounds& b, const Scale<tilted>& nm,
                              float cutoff)
{
    const Vec3<float> reach = nm.lean.along_edges(cutoff);
    const auto along = [&](int d, std::uint32_t xa, std::uint32_t xb, float half, float unit) {
        return cell.is_divided(d) && apart<false>(cell, d, xa, xb, unit) + half + reach[d] > 4294967296.0f * unit;
    };
    return along(0, a.x, b.x, a.half_x + b.half_x, nm.x) || along(1, a.y, b.y, a.half_y + b.half_y, nm.y) ||
           along(2, a.z, b.z, a.half_z + b.half_z, nm.z);
}

} // namespace parhelion::pair_tiles
