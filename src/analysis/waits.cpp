// SPDX-License-Identifier: Apache-2.0
// Sums up waits by process, peer, exchange and cause. An exchange waits for the last peer to begin it. The cause is the activity
// of this peer during the wait.
#include "analysis/analysis.hpp"
#include "analysis/critical_path.hpp"
#include "analysis/steps.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace parhelion {

namespace {

// Returns the activity that took at least half of [begin, end), "several" if none did, or "no kernel" or "no phase".
std::string longest_activity(const Trace& trace, const TracedProcess& process, const ActivityRange& range, std::uint64_t begin,
                             std::uint64_t end)
{
    std::map<std::uint16_t, std::uint64_t> times;
    for (std::size_t i = range.first; i < range.end; ++i)
    {
        const Activity& a = process.activities[i];
        const std::uint64_t from = std::max(begin, a.begin), to = std::min(end, a.end);
        if (from < to) { times[a.name] += to - from; }
    }
    std::uint64_t none = end - begin; // time without activity, ns; too small where activities overlap
    for (const auto& [name, ns] : times)
    {
        if (2 * ns >= end - begin) { return trace.names[name].name; }
        none -= std::min(none, ns);
    }
    return 2 * none >= end - begin ? (process.is_gpu ? "no kernel" : "no phase") : "several";
}

} // namespace

std::vector<WaitTimes> waits_of(const Trace& trace, const std::vector<TracedStep>& steps, const Dependences& dependences)
{
    struct Sum
    {
        std::uint64_t ns = 0;
        std::size_t steps = 0, last = 0;
    };
    std::map<std::tuple<std::size_t, std::size_t, std::uint16_t, std::string>, Sum> sums; // the key: process, peer, name, cause
    std::size_t counted = 0;
    for (std::size_t s = 0; s < steps.size(); ++s)
    {
        if (!steps[s].is_counted()) { continue; }
        ++counted;
        for (std::size_t p = 0; p < trace.processes.size(); ++p)
        {
            for (std::size_t i = steps[s].of[p].first; i < steps[s].of[p].end; ++i)
            {
                const Activity& a = trace.processes[p].activities[i];
                const auto arrival = dependences.last_arrival(s, p, i, a.end);
                if (!arrival) { continue; }
                ActivityRange range = steps[s].of[arrival->process];
                if (steps[s].follows) { range.first = steps[s - 1].of[arrival->process].first; }
                const std::string cause =
                    longest_activity(trace, trace.processes[arrival->process], range, a.begin, arrival->time);
                Sum& sum = sums[{p, arrival->process, a.name, cause}];
                sum.ns += arrival->time - a.begin;
                if (sum.last != s + 1) { sum.last = s + 1, ++sum.steps; }
            }
        }
    }
    std::vector<WaitTimes> waits;
    for (const auto& [key, sum] : sums)
    {
        const auto& [process, peer, name, cause] = key;
        const auto n = static_cast<double>(counted);
        waits.push_back({trace.processes[process].name, trace.processes[peer].name, trace.names[name].name, cause,
                         static_cast<double>(sum.ns) * 1e-3 / n, static_cast<double>(sum.steps) / n});
    }
    std::stable_sort(waits.begin(), waits.end(), [](const WaitTimes& a, const WaitTimes& b) { return a.us > b.us; });
    return waits;
}

} // namespace parhelion
