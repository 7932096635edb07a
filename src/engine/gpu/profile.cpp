// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/profile.hpp"

#include "trace/phases.hpp"

#include <algorithm>

namespace parhelion {

std::vector<NamedKernel> named_kernels(std::span<const LaunchedKernel> kernels)
{
    std::vector<NamedKernel> named;
    for (const LaunchedKernel& kernel : kernels) { named.push_back({kernel.name, kernel.phase.as<Phase>()}); }
    return named;
}

void add_profile(std::span<const std::vector<BlockRecord>> of_gpus, std::span<const LaunchedKernel> kernels, RunSummary& summary)
{
    const std::vector<BlockRecord>& records = of_gpus.front();
    if (records.empty()) { return; }
    const auto steps = static_cast<double>(recorded_steps(records));
    const std::vector<KernelSpan> spans = kernel_spans(records);
    const auto us_per_step = [&](const std::vector<KernelSpan>& of) {
        return static_cast<double>(covered_time(of)) * 1e-3 / steps;
    };
    const auto those = [&](auto&& belongs) {
        std::vector<KernelSpan> some;
        std::copy_if(spans.begin(), spans.end(), std::back_inserter(some), belongs);
        return some;
    };
    for (int p = 0; p < phases; ++p)
    {
        const auto phase = static_cast<Phase>(p);
        const double us = us_per_step(those([&](const KernelSpan& s) { return kernels[s.kernel].phase == phase; }));
        summary.phases.emplace_back(phase_names[static_cast<std::size_t>(p)], us);
    }
    summary.covered_us = us_per_step(spans);
    for (std::size_t k = 0; k < kernels.size(); ++k)
    {
        const std::vector<KernelSpan> calls = those([&](const KernelSpan& s) { return s.kernel == k; });
        if (calls.empty()) { continue; }
        const LaunchedKernel& kernel = kernels[k];
        const auto count = static_cast<double>(calls.size());
        summary.kernels.push_back({.name = kernel.name,
                                   .phase = std::string(phase_names[kernel.phase.index()]),
                                   .calls_per_step = count / steps,
                                   .us_per_call = us_per_step(calls) * steps / count,
                                   .blocks = kernel.blocks,
                                   .threads = kernel.threads,
                                   .registers = kernel.registers,
                                   .shared_bytes = kernel.shared_bytes,
                                   .spilled_bytes = kernel.spilled_bytes,
                                   .occupancy = kernel.occupancy});
    }
    const std::vector<NamedKernel> named = named_kernels(kernels);
    for (const std::vector<BlockRecord>& of_gpu : of_gpus) { summary.work.push_back(step_work(named, of_gpu)); }
}

} // namespace parhelion
