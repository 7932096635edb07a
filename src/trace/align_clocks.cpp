// SPDX-License-Identifier: Apache-2.0
#include "trace/align_clocks.hpp"

#include "trace/phases.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace parhelion {

namespace {

using Ns = std::int64_t;

// The launches of a timeline that are compared with those of another.
struct Ends
{
    std::map<std::int64_t, Ns> begins;                                     // for each step: when its first kernel begins
    std::map<std::tuple<std::int64_t, std::size_t, int>, Ns> of_exchanges; // ends of exchanges by step, name, number in the step
};

// Returns true for phases with kernels that wait for other GPUs. The update may exchange the halo (halo/gpu/direct.cuh).
bool waits_for_peers(std::size_t phase)
{
    for (const Phase one : {Phase::SendCoordinates, Phase::MeshExchange, Phase::Reduce, Phase::Constrain})
    {
        if (phase == static_cast<std::size_t>(one)) { return true; }
    }
    return false;
}

Ends ends_of(const Timeline& timeline)
{
    Ends ends;
    std::map<std::pair<std::int64_t, std::size_t>, int> times;
    for (const Timeline::Span& span : timeline.spans)
    {
        if (span.track >= phase_names.size()) { continue; } // a multiprocessor, or steps that were not recorded
        const Ns begin = static_cast<Ns>(span.begin);
        const auto at = ends.begins.emplace(span.step, begin).first;
        at->second = std::min(at->second, begin);
        if (!waits_for_peers(span.track)) { continue; }
        ends.of_exchanges[{span.step, span.name, times[{span.step, span.name}]++}] = static_cast<Ns>(span.end);
    }
    return ends;
}

// Returns false if one process would have begun a step before the other had begun the step before.
bool may_agree(const Ends& a, const Ends& b)
{
    for (const auto& [step, begin] : a.begins)
    {
        const auto before = b.begins.find(step - 1), after = b.begins.find(step + 1);
        if (before != b.begins.end() && begin < before->second) { return false; }
        if (after != b.begins.end() && after->second < begin) { return false; }
    }
    return true;
}

// Returns how far the clock of b is ahead of that of a.
std::optional<Ns> difference(const Ends& a, const Ends& b)
{
    std::vector<Ns> differences;
    for (const auto& [launch, end] : a.of_exchanges)
    {
        if (const auto other = b.of_exchanges.find(launch); other != b.of_exchanges.end())
        {
            differences.push_back(other->second - end);
        }
    }
    if (differences.empty()) { return std::nullopt; }
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::nth_element(differences.begin(), middle, differences.end());
    return *middle;
}

} // namespace

void align_clocks(std::vector<Timeline>& timelines)
{
    if (timelines.empty()) { return; }
    const Ends first = ends_of(timelines.front());
    for (std::size_t t = 1; t < timelines.size(); ++t)
    {
        const Ends own = ends_of(timelines[t]);
        if (may_agree(first, own)) { continue; }
        const Ns ahead = difference(first, own).value_or(0);
        for (Timeline::Span& span : timelines[t].spans)
        {
            span.begin = static_cast<std::uint64_t>(static_cast<Ns>(span.begin) - ahead);
            span.end = static_cast<std::uint64_t>(static_cast<Ns>(span.end) - ahead);
        }
    }
}

} // namespace parhelion
