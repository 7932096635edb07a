// SPDX-License-Identifier: Apache-2.0
#include "analysis/steps.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace parhelion {

namespace {

// The number of a step, and how many times it has been done before.
using Key = std::pair<std::int64_t, int>;

struct PartOfProcess
{
    Key key;
    ActivityRange range;
};

std::vector<PartOfProcess> parts_of(const TracedProcess& process)
{
    std::vector<PartOfProcess> parts;
    std::map<std::int64_t, int> times;
    const std::vector<Activity>& activities = process.activities;
    for (std::size_t i = 0; i < activities.size(); ++i)
    {
        if (i == 0 || activities[i].step != activities[i - 1].step)
        {
            const std::int64_t step = activities[i].step;
            parts.push_back({{step, times[step]++}, {i, i}});
        }
        parts.back().range.end = i + 1;
    }
    // The first step of a rank contains the start of the run, or is incomplete because its first spans were dropped.
    if (!process.is_gpu && !parts.empty()) { parts.erase(parts.begin()); }
    return parts;
}

void add(const TracedProcess& process, const ActivityRange& range, TracedStep& step)
{
    for (std::size_t i = range.first; i < range.end; ++i)
    {
        const Activity& a = process.activities[i];
        step.begin = std::min(step.begin, a.begin);
        step.repartitions = step.repartitions || a.phase == Phase::Reorder;
        step.outputs = step.outputs || a.phase == Phase::Output;
    }
    step.of.push_back(range);
}

} // namespace

std::vector<TracedStep> find_steps(const Trace& trace)
{
    const std::size_t processes = trace.processes.size();
    std::map<Key, std::vector<ActivityRange>> of_steps;
    for (std::size_t p = 0; p < processes; ++p)
    {
        for (const PartOfProcess& part : parts_of(trace.processes[p]))
        {
            std::vector<ActivityRange>& ranges = of_steps[part.key];
            if (ranges.size() == p) { ranges.push_back(part.range); } // otherwise process p - 1 has not taken the step
        }
    }
    std::vector<TracedStep> steps;
    for (const auto& [key, ranges] : of_steps)
    {
        if (ranges.size() < processes) { continue; }
        TracedStep& step = steps.emplace_back();
        step.step = key.first, step.begin = std::numeric_limits<std::uint64_t>::max();
        for (std::size_t p = 0; p < processes; ++p) { add(trace.processes[p], ranges[p], step); }
    }
    std::sort(steps.begin(), steps.end(), [](const TracedStep& a, const TracedStep& b) { return a.begin < b.begin; });
    bool any = false;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    {
        TracedStep& next = steps[i + 1];
        next.follows = next.step == steps[i].step + 1;
        if (next.follows) { steps[i].us = static_cast<double>(next.begin - steps[i].begin) * 1e-3; }
        any = any || steps[i].is_counted();
    }
    if (!any)
    {
        throw InputError("E198", {trace.path, 0},
                         "no two whole steps follow each other in it (a step lasts until the next begins, and the first of ranks "
                         "on CPUs is not counted). Let the run take more steps.");
    }
    return steps;
}

} // namespace parhelion
