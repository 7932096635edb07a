// SPDX-License-Identifier: Apache-2.0
#include "analysis/critical_path.hpp"

#include <algorithm>
#include <unordered_map>

namespace parhelion {

namespace {

// Returns true if a process may wait for messages of process `other` in this phase. If the file does not name the halo's peers,
// all processes count as peers.
bool may_await(Phase phase, const TracedProcess& process, std::size_t other)
{
    const bool is_halo = phase == Phase::SendCoordinates || phase == Phase::ReturnForces;
    const std::vector<std::size_t>& peers = process.peers;
    return !is_halo || peers.empty() || std::find(peers.begin(), peers.end(), other) != peers.end();
}

} // namespace

Dependences::Dependences(const Trace& trace, const std::vector<TracedStep>& steps) : trace_(trace), steps_(steps)
{
    std::unordered_map<std::uint16_t, std::uint16_t> times;
    for (std::size_t p = 0; p < trace.processes.size(); ++p)
    {
        const std::vector<Activity>& activities = trace.processes[p].activities;
        std::vector<std::uint16_t>& ordinals = ordinals_.emplace_back(activities.size());
        for (const TracedStep& step : steps)
        {
            times.clear();
            for (std::size_t i = step.of[p].first; i < step.of[p].end; ++i) { ordinals[i] = times[activities[i].name]++; }
        }
    }
}

std::optional<Arrival> Dependences::latest_partner(std::size_t step, std::size_t process, std::size_t activity,
                                                   std::uint64_t until) const
{
    const Activity& own = trace_.processes[process].activities[activity];
    std::optional<Arrival> latest;
    for (std::size_t p = 0; p < trace_.processes.size(); ++p)
    {
        if (p == process || !may_await(own.phase, trace_.processes[process], p)) { continue; }
        const ActivityRange& range = steps_[step].of[p];
        for (std::size_t i = range.first; i < range.end; ++i)
        {
            const Activity& other = trace_.processes[p].activities[i];
            if (other.name != own.name || ordinals_[p][i] != ordinals_[process][activity]) { continue; }
            if (other.begin < until && (!latest || other.begin > latest->time)) { latest = {p, i, other.begin}; }
        }
    }
    return latest;
}

std::optional<Arrival> Dependences::latest_forces(std::size_t step, std::size_t process, std::uint64_t until) const
{
    std::optional<Arrival> latest;
    for (std::size_t p = 0; p < trace_.processes.size(); ++p)
    {
        if (p == process || !may_await(Phase::ReturnForces, trace_.processes[process], p)) { continue; }
        const ActivityRange& range = steps_[step].of[p];
        for (std::size_t i = range.first; i < range.end; ++i)
        {
            const Activity& other = trace_.processes[p].activities[i];
            if (other.phase != Phase::ReturnForces) { continue; }
            if (other.end < until && (!latest || other.end > latest->time)) { latest = {p, i, other.end}; }
        }
    }
    return latest;
}

std::optional<Arrival> Dependences::last_arrival(std::size_t step, std::size_t process, std::size_t activity,
                                                 std::uint64_t until) const
{
    const TracedProcess& own = trace_.processes[process];
    const Activity& a = own.activities[activity];
    std::optional<Arrival> arrival;
    if (is_exchange(a.phase)) { arrival = latest_partner(step, process, activity, until); }
    else if (own.is_gpu && a.phase == Phase::Constrain) { arrival = latest_forces(step, process, until); }
    return arrival && arrival->time > a.begin ? arrival : std::nullopt;
}

std::optional<std::size_t> Dependences::before(std::size_t step, std::size_t process, std::size_t activity) const
{
    const TracedProcess& own = trace_.processes[process];
    if (!own.is_gpu) // activities of a rank on CPUs follow one after another
    {
        const auto is_in = [&](std::size_t s) {
            return activity > steps_[s].of[process].first && activity <= steps_[s].of[process].end;
        };
        return is_in(step) || (steps_[step].follows && is_in(step - 1)) ? std::optional(activity - 1) : std::nullopt;
    }
    const Activity& a = own.activities[activity];
    std::optional<std::size_t> last;
    for (const std::size_t back : {0, 1})
    {
        if (last || (back == 1 && !steps_[step].follows)) { break; }
        const ActivityRange& range = steps_[step - back].of[process];
        for (std::size_t i = range.first; i < range.end; ++i)
        {
            const Activity& other = own.activities[i];
            if (i == activity || other.begin >= a.begin || other.end > a.begin + overlap_ns || other.end > a.end) { continue; }
            if (!last || other.end > own.activities[*last].end) { last = i; }
        }
    }
    return last;
}

// Appends the critical path of steps [first, last], backwards in time. Precondition: these steps follow each other.
void Dependences::walk_back(std::size_t first, std::size_t last, std::vector<PathPart>& parts) const
{
    std::size_t process = 0, activity = 0;
    std::uint64_t until = 0;
    for (std::size_t p = 0; p < trace_.processes.size(); ++p)
    {
        for (std::size_t i = steps_[last].of[p].first; i < steps_[last].of[p].end; ++i)
        {
            if (const std::uint64_t end = trace_.processes[p].activities[i].end; end > until)
            {
                process = p, activity = i, until = end;
            }
        }
    }
    const auto add = [&](std::size_t step, std::uint64_t begin, PathPart::Kind kind) {
        if (begin < until) { parts.push_back({begin, until, step, process, activity, kind}); }
        until = std::min(until, begin);
    };
    for (std::size_t step = last;;)
    {
        const Activity& a = trace_.processes[process].activities[activity];
        if (const auto arrival = last_arrival(step, process, activity, until))
        {
            add(step, arrival->time, PathPart::Kind::Exchange);
            process = arrival->process, activity = arrival->activity;
            continue;
        }
        add(step, a.begin, is_exchange(a.phase) ? PathPart::Kind::Exchange : PathPart::Kind::Work);
        const auto previous = before(step, process, activity);
        if (!previous) { return add(step, steps_[first].begin, PathPart::Kind::Gap); }
        const Activity& p = trace_.processes[process].activities[*previous];
        add(step, p.end, PathPart::Kind::Gap);
        activity = *previous;
        const ActivityRange& range = steps_[step].of[process];
        if (activity < range.first || activity >= range.end) { --step; }
    }
}

std::vector<PathPart> Dependences::critical_path() const
{
    std::vector<PathPart> whole, parts;
    for (std::size_t end = steps_.size(); end > 0;)
    {
        std::size_t first = end - 1;
        while (first > 0 && steps_[first].follows) { --first; }
        walk_back(first, end - 1, whole);
        end = first;
    }
    for (auto part = whole.rbegin(); part != whole.rend(); ++part)
    {
        // Splits the part at each begin of a step.
        while (part->begin < part->end)
        {
            const auto next = std::upper_bound(steps_.begin(), steps_.end(), part->begin,
                                               [](std::uint64_t time, const TracedStep& step) { return time < step.begin; });
            PathPart& piece = parts.emplace_back(*part);
            piece.step = static_cast<std::size_t>(next - steps_.begin()) - 1;
            if (next != steps_.end()) { piece.end = std::min(piece.end, next->begin); }
            part->begin = piece.end;
        }
    }
    return parts;
}

} // namespace parhelion
