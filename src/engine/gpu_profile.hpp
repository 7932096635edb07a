// SPDX-License-Identifier: Apache-2.0
// Where the time of some steps on a GPU went, from the records of their blocks: by phase and by kernel. Cost: a sort.
#pragma once

#include "device/kernel_table.hpp"
#include "engine/simulation.hpp"
#include "trace/timeline.hpp"

namespace parhelion {

// Phases, their cover and kernels of `summary`, per step. Kernels without a record are left out.
void add_profile(std::span<const BlockRecord> records, std::span<const LaunchedKernel> kernels, RunSummary& summary);

} // namespace parhelion
