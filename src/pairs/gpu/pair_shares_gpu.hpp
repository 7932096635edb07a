// SPDX-License-Identifier: Apache-2.0
// Divides a pruned pair list into shares of about equal cost, which blocks of the force kernel take. Cost: one launch, which
// lasts about as long as two dependent loads.
#pragma once

#include "pairs/gpu/pair_list_gpu.hpp"

namespace parhelion {

// Fills `shares` and `busy_rows` of the list from its pruned rows, of which there are `rows`.
void cut_shares(GpuQueue& queue, int rows, GpuPairList& list);

} // namespace parhelion
