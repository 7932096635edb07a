// SPDX-License-Identifier: Apache-2.0
// The state of a run between the host and a GPU, besides the atoms' own upload(). Cost: copies that wait.
#pragma once

#include "engine/gpu/snapshot_gpu.hpp"
#include "engine/rank.hpp"
#include "model/saved_state.hpp"

namespace parhelion {

// The coupling's state as the rank has it.
template <class N>
void upload_coupling(GpuQueue& queue, const Rank<N>& from, GpuCoupling<N>& to);

// Plain data for a checkpoint, of the same names as the CPU's.
template <class N>
SavedState to_saved_state(GpuQueue& queue, const GpuSnapshot<N>& snapshot, std::int64_t seed);

} // namespace parhelion
