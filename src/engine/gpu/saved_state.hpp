// SPDX-License-Identifier: Apache-2.0
// Copies a snapshot on a GPU to the host, as plain data for a checkpoint. Cost: copies for which the host waits.
#pragma once

#include "engine/gpu/snapshot_gpu.hpp"
#include "model/saved_state.hpp"

namespace parhelion {

// The coupling has the same names as on the CPU. The list conditions are missing, as they are on the host.
template <class N>
SavedState to_saved_state(GpuQueue& queue, const GpuSnapshot<N>& snapshot, std::int64_t seed);

} // namespace parhelion
