// SPDX-License-Identifier: Apache-2.0
// Computes how long steps on a GPU take, by phase and by kernel, from the records of thread blocks. Cost: sorting the records.
#pragma once

#include "device/gpu/kernel_table.hpp"
#include "engine/simulation.hpp"
#include "trace/timeline.hpp"

namespace parhelion {

std::vector<NamedKernel> named_kernels(std::span<const LaunchedKernel> kernels);

// Fills in `summary` with times per step. For the first GPU: the phases, the time that they cover
// together, and the kernels. For each GPU: its work. Kernels without a record are left out.
void add_profile(std::span<const std::vector<BlockRecord>> of_gpus, std::span<const LaunchedKernel> kernels, RunSummary& summary);

} // namespace parhelion
