// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/readings.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace parhelion {

template <class N>
FailureReport earliest_failure(GpuSpan<N> gpus, GpuProcesses& processes)
{
    FailureReport first;
    for_each_rank<N>(gpus, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        const FailureReport report = r.coupling.failure().to_vector(gpu.queue)[0];
        if (report.atom >= 0 && (first.atom < 0 || report.step < first.step)) { first = report; }
    });
    // The step of the earliest failure in all processes, negative. If several failed in this step, any of them is reported.
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    const std::int64_t earliest = processes.largest(first.atom >= 0 ? -first.step : none);
    const auto atom = static_cast<std::int32_t>(processes.largest(first.atom >= 0 && -first.step == earliest ? first.atom : -1));
    return atom >= 0 ? FailureReport{atom, -earliest} : FailureReport{};
}

template <class N>
double largest_deviation(GpuSpan<N> gpus, GpuProcesses& processes)
{
    std::int32_t largest = 0;
    for_each_rank<N>(gpus, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        largest = std::max(largest, r.coupling.largest_deviation().to_vector(gpu.queue)[0]);
    });
    return deviation_unit * static_cast<double>(processes.largest(largest));
}

template <class N>
double count_tiles(GpuSpan<N> gpus, GpuProcesses& processes)
{
    double tiles = 0;
    for_each_rank<N>(gpus, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        for (const GpuPairList& list : r.pairs)
        {
            const std::vector<PairWord> pruned = list.pruned.to_vector(gpu.queue);
            for (const GpuPairRow& row : list.rows.to_vector(gpu.queue))
            {
                for (std::int32_t e = row.begin; e < row.begin + row.pruned; ++e)
                {
                    tiles += std::popcount(pruned[static_cast<std::size_t>(e)] & 0xffu);
                }
            }
        }
    });
    return processes.sum(tiles);
}

template <class N>
std::vector<std::vector<BlockRecord>> block_records(GpuSpan<N> gpus)
{
    std::vector<std::vector<BlockRecord>> of_gpus;
    for (GpuWithRanks<N>* const gpu : gpus) { of_gpus.push_back(gpu->tracer.records(gpu->queue)); }
    return of_gpus;
}

template <class N>
void clear_records(GpuSpan<N> gpus)
{
    for (GpuWithRanks<N>* const gpu : gpus) { gpu->tracer.clear(gpu->queue); }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template FailureReport earliest_failure<N>(GpuSpan<N>, GpuProcesses&);                                                       \
    template double largest_deviation<N>(GpuSpan<N>, GpuProcesses&);                                                             \
    template double count_tiles<N>(GpuSpan<N>, GpuProcesses&);                                                                   \
    template std::vector<std::vector<BlockRecord>> block_records<N>(GpuSpan<N>);                                                 \
    template void clear_records<N>(GpuSpan<N>);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
