// SPDX-License-Identifier: Apache-2.0
// The times of some steps on a GPU by phase and by kernel, from the records of their blocks. Cost: a sort.
#pragma once

#include "device/gpu/kernel_table.hpp"
#include "engine/simulation.hpp"
#include "trace/timeline.hpp"

namespace parhelion {

std::vector<NamedKernel> named_kernels(std::span<const LaunchedKernel> kernels);

// Of `summary`: phases, their cover and kernels of the first GPU, per step, and the work of each. Kernels without a record are
// left out.
void add_profile(std::span<const std::vector<BlockRecord>> of_gpus, std::span<const LaunchedKernel> kernels, RunSummary& summary);

} // namespace parhelion
