// SPDX-License-Identifier: Apache-2.0
// Values that ranks on GPUs keep for the host: the first failure, deviations, records of thread blocks, the length of pair lists.
// Reading them waits for the GPUs. A value of the whole run is the same in all its processes, which must all call the function.
#pragma once

#include "engine/gpu/processes.hpp"
#include "engine/gpu/rank_gpu.hpp"

#include <vector>

namespace parhelion {

// Returns the report of the earliest step that failed on any rank. Its atom is -1 if no step has failed.
template <class N>
FailureReport earliest_failure(GpuSpan<N> gpus, GpuProcesses& processes);
// Returns the largest relative deviation of a bond that LINCS has left so far, or 0 while none exceeds the LINCS tolerance.
template <class N>
double largest_deviation(GpuSpan<N> gpus, GpuProcesses& processes);
// Returns the number of tiles of 8 x 8 pairs in the lists with which forces were last computed.
template <class N>
double count_tiles(GpuSpan<N> gpus, GpuProcesses& processes);

// Returns the latest records of thread blocks, by GPU.
template <class N>
std::vector<std::vector<BlockRecord>> block_records(GpuSpan<N> gpus);
// Queues the removal of all records of thread blocks.
template <class N>
void clear_records(GpuSpan<N> gpus);

} // namespace parhelion
