// SPDX-License-Identifier: Apache-2.0
#include "trace/step_work.hpp"

#include <algorithm>
#include <limits>

namespace parhelion {

namespace {

struct Extent
{
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;

    void add(std::uint64_t from, std::uint64_t to) { begin = std::min(begin, from), end = std::max(end, to); }
    bool is_empty() const { return end == 0; }
    double us() const { return is_empty() ? 0 : static_cast<double>(end - begin) * 1e-3; }
};

struct StepExtents
{
    std::int64_t step = 0;
    bool repartitions = false;
    Extent all, halo, update;
    std::vector<KernelSpan> pairs; // ordered as launched

    // Adds launches of the first pair kernel. In steps with energies the phase also has kernels that compute no pairs.
    void add_pairs(const KernelSpan& span)
    {
        if (pairs.empty() || span.kernel == pairs.front().kernel) { pairs.push_back(span); }
    }
    // Pairs with halo atoms are launched first, then pairs of home atoms, in the same number of launches.
    std::size_t first_local() const { return halo.is_empty() ? 0 : pairs.size() / 2; }
    Extent local() const
    {
        Extent extent;
        for (std::size_t i = first_local(); i < pairs.size(); ++i) { extent.add(pairs[i].begin, pairs[i].end); }
        return extent;
    }
    Extent nonlocal() const
    {
        Extent extent = halo;
        for (std::size_t i = 0; i < first_local(); ++i) { extent.add(pairs[i].begin, pairs[i].end); }
        return extent;
    }
};

std::vector<StepExtents> extents_of_steps(std::span<const NamedKernel> kernels, std::span<const KernelSpan> launches)
{
    std::vector<StepExtents> steps;
    for (const KernelSpan& s : launches)
    {
        if (steps.empty() || steps.back().step != s.step) { steps.emplace_back().step = s.step; }
        StepExtents& step = steps.back();
        step.all.add(s.begin, s.end);
        switch (kernels[s.kernel].phase)
        {
        case Phase::Reorder:
            step.repartitions = true;
            break;
        case Phase::SendCoordinates:
        case Phase::ReturnForces:
            step.halo.add(s.begin, s.end);
            break;
        case Phase::Nonbonded:
            step.add_pairs(s);
            break;
        case Phase::Constrain:
            step.update.add(s.begin, s.end);
            break;
        default:
            break;
        }
    }
    return steps;
}

StepWork work_of(const StepExtents& step, double length)
{
    const Extent local = step.local(), nonlocal = step.nonlocal();
    Extent forces = local;
    if (!nonlocal.is_empty()) { forces.add(nonlocal.begin, nonlocal.end); }
    return {.local = local.us(),
            .nonlocal = nonlocal.us(),
            .nonoverlap = static_cast<double>(forces.end - local.end) * 1e-3,
            .update = step.update.us(),
            .other = length - forces.us(),
            .step = length};
}

} // namespace

StepWork step_work(std::span<const NamedKernel> kernels, std::span<const BlockRecord> records)
{
    return step_work_of_launches(kernels, kernel_spans(records));
}

StepWork step_work_of_launches(std::span<const NamedKernel> kernels, std::span<const KernelSpan> launches)
{
    const std::vector<StepExtents> steps = extents_of_steps(kernels, launches);
    StepWork mean;
    double all_us = 0;
    int count = 0, ordinary = 0;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    {
        const StepExtents &step = steps[i], &next = steps[i + 1];
        if (next.step != step.step + 1 || step.local().is_empty()) { continue; }
        const double length = static_cast<double>(next.all.begin - step.all.begin) * 1e-3;
        all_us += length, ++count;
        if (step.repartitions) { continue; }
        ++ordinary;
        const StepWork work = work_of(step, length);
        for (const auto& [name, part] : step_work_parts) { mean.*part += work.*part; }
    }
    if (ordinary == 0) { return {}; }
    for (const auto& [name, part] : step_work_parts) { mean.*part /= ordinary; }
    mean.repartition = all_us / count - mean.step;
    return mean;
}

} // namespace parhelion
