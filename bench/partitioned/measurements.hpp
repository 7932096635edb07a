// SPDX-License-Identifier: Apache-2.0
// Declares what partitioned_bench measures, on the GPUs of a world's ranks.
#pragma once

#include "bench/partitioned/nccl.hpp"
#include "bench/partitioned/timing.hpp"

namespace parhelion::partitioned_bench {

struct Setting
{
    std::vector<GpuQueue*> queues; // of each rank; a GPU each, unless one is all there is
    Nccl* nccl;                    // or null
    Report& report;
    std::size_t most_bytes;
};

// A kernel adds two vectors, 8 bytes a thread, and the sum goes to the next GPU. Figures 2 and 4.
void time_messages(const Setting& setting);
// Measures what a message of one block to another costs by the two mechanisms, and with other threads on the proxy's core. The
// question of Doijade et al. (GPU-initiated halo exchange with NVSHMEM), section 5.5.
void time_proxy(const Setting& setting);
// Measures pready by threads, warps and a block, and what happens once. Figure 3 and table I.
void time_costs(const Setting& setting);
// An all-reduce by itself. Figures 6 and 7.
void time_sums(const Setting& setting);
// Two programs: edges of squares of cells, and a sum over derivatives. Figures 8 and 9, 10 and 11.
void time_jacobi(const Setting& setting);
void time_training(const Setting& setting);

} // namespace parhelion::partitioned_bench
