// SPDX-License-Identifier: Apache-2.0
// Costs of a pair list in the force kernel, in twentieths of a tile without masks.
#pragma once

#include "pairs/gpu/pair_list_gpu.hpp"

#include <cstdint>

namespace parhelion::pair_costs {

constexpr std::uint32_t row_cost = 100;
inline __device__ std::uint32_t cost_of(PairWord word, bool masked)
{
    return (masked ? 60 : 45) + (masked ? 25 : 20) * static_cast<std::uint32_t>(__popc(word & 0xff));
}

} // namespace parhelion::pair_costs
