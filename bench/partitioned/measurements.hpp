// SPDX-License-Identifier: Apache-2.0
// What partitioned_bench measures, on the GPUs of a world's ranks, one each.
#pragma once

#include "bench/partitioned/nccl.hpp"
#include "bench/partitioned/timing.hpp"

namespace parhelion::partitioned_bench {

struct Setting
{
    std::vector<GpuQueue*> queues; // a GPU each
    Nccl* nccl;                    // or null
    Report& report;
    std::size_t most_bytes;
};

// A kernel adds two vectors, 8 bytes a thread, and the sum goes to the next GPU. Figures 2 and 4.
void time_messages(const Setting& setting);
// Of pready by threads, warps and a block, and of what happens once. Figure 3 and table I.
void time_costs(const Setting& setting);
// An all-reduce by itself. Figures 6 and 7.
void time_sums(const Setting& setting);

} // namespace parhelion::partitioned_bench
