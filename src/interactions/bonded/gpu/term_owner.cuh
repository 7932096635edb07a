// SPDX-License-Identifier: Apache-2.0
// Decides on a GPU whether a bonded term belongs to this rank. bonded_gpu.hpp explains the rule.
#pragma once

#include "state/gpu/cell.hpp"
#include "state/gpu/view.cuh"

#include <cstdint>

namespace parhelion {

// Returns the coordinate of an atom in a zone `offset` cells ahead, measured from the middle of the
// rank's own cell in the unrolled box. It is that of the atom's image nearest to its owner's cell.
__device__ inline std::int64_t unrolled_by_owner(const GpuCell& cell, int d, int offset, std::uint32_t x)
{
    const std::uint32_t ahead = static_cast<std::uint32_t>(offset) * cell.width[d];
    return static_cast<std::int64_t>(ahead) + static_cast<std::int32_t>(x - (cell.lower[d] + cell.width[d] / 2 + ahead));
}

// Returns whether the term belongs to this rank. `slot` has the slots of all atoms of the term; all must be on this rank.
template <class N>
__device__ bool is_mine(const GpuCell& cell, const GpuView<N>& state, const std::int32_t* slot, int atoms)
{
    for (int d = 0; d < 3; ++d)
    {
        if (!cell.is_divided(d)) { continue; }
        int least_offset = cell.cells[d];
        std::int64_t low = INT64_MAX, high = INT64_MIN;
        for (int a = 0; a < atoms; ++a)
        {
            const int offset = cell.offset_of(state.zone(slot[a]), d);
            const std::int64_t x = unrolled_by_owner(cell, d, offset, state.leading_bits(slot[a])[d]);
            least_offset = min(least_offset, offset);
            low = x < low ? x : low, high = x > high ? x : high;
        }
        constexpr std::int64_t half_box = std::int64_t{1} << 31;
        if (least_offset > 0 || high - low >= half_box) { return false; }
    }
    return true;
}

} // namespace parhelion
