// SPDX-License-Identifier: Apache-2.0
// Copies a run's state, except atoms, between host and GPU; upload() copies the atoms. Cost: copies for which the host waits.
#pragma once

#include "engine/gpu/snapshot_gpu.hpp"
#include "engine/rank.hpp"
#include "model/saved_state.hpp"

namespace parhelion {

// Uploads the coupling state of rank `from` on the CPU.
template <class N>
void upload_coupling(GpuQueue& queue, const Rank<N>& from, GpuCoupling<N>& to);

// Returns plain data for a checkpoint, with the same names as those of the CPU.
template <class N>
SavedState to_saved_state(GpuQueue& queue, const GpuSnapshot<N>& snapshot, std::int64_t seed);

} // namespace parhelion
