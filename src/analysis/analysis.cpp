// SPDX-License-Identifier: Apache-2.0
#include "analysis/analysis.hpp"

#include "analysis/critical_path.hpp"
#include "analysis/steps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace parhelion {

namespace {

double us_of(std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

StepSpread spread_of_lengths(std::vector<double> us)
{
    StepSpread spread;
    spread.count = us.size();
    if (us.empty()) { return spread; }
    std::sort(us.begin(), us.end());
    const auto n = static_cast<double>(us.size());
    spread.mean = std::accumulate(us.begin(), us.end(), 0.0) / n;
    for (const double x : us) { spread.deviation += (x - spread.mean) * (x - spread.mean) / n; }
    spread.deviation = std::sqrt(spread.deviation);
    spread.min = us.front(), spread.max = us.back();
    spread.median = us[(us.size() - 1) / 2];
    spread.p95 = us[static_cast<std::size_t>(std::ceil(0.95 * n)) - 1];
    return spread;
}

// Returns the index of the step of median length among steps without a repartition, or among all if every step has one.
std::size_t typical_step(const std::vector<TracedStep>& steps)
{
    std::vector<std::size_t> candidates;
    for (const bool any : {false, true})
    {
        for (std::size_t s = 0; s < steps.size() && (!any || candidates.empty()); ++s)
        {
            if (steps[s].is_counted() && (any || !steps[s].repartitions)) { candidates.push_back(s); }
        }
        if (!candidates.empty()) { break; }
    }
    const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>((candidates.size() - 1) / 2);
    std::nth_element(candidates.begin(), middle, candidates.end(),
                     [&](std::size_t a, std::size_t b) { return steps[a].us < steps[b].us; });
    return *middle;
}

// --- sums over the steps for which is_counted() is true

class Sums
{
public:
    Sums(const Trace& trace, const std::vector<TracedStep>& steps, TraceAnalysis& analysis)
        : trace_(trace), steps_(steps), analysis_(analysis), of_names_(trace.names.size())
    {
    }

    void add_activities()
    {
        analysis_.processes.resize(trace_.processes.size());
        for (std::size_t p = 0; p < trace_.processes.size(); ++p)
        {
            for (std::size_t s = 0; s < steps_.size(); ++s) // a counted step is followed by another step
            {
                if (!steps_[s].is_counted()) { continue; }
                add_step(trace_.processes[p], steps_[s].of[p], steps_[s + 1].of[p], analysis_.processes[p]);
            }
        }
    }

    void add_path(const std::vector<PathPart>& path)
    {
        std::vector<std::vector<bool>> has(trace_.names.size(), std::vector<bool>(steps_.size()));
        for (const PathPart& part : path)
        {
            if (!steps_[part.step].is_counted()) { continue; }
            analysis_.processes[part.process].path += part.us();
            if (part.kind == PathPart::Kind::Gap)
            {
                analysis_.path_gaps += part.us();
                continue;
            }
            if (part.kind == PathPart::Kind::Exchange) { analysis_.path_messages += part.us(); }
            const std::uint16_t name = trace_.processes[part.process].activities[part.activity].name;
            of_names_[name].path += part.us();
            has[name][part.step] = true;
        }
        for (std::size_t n = 0; n < has.size(); ++n)
        {
            of_names_[n].path_steps = static_cast<double>(std::count(has[n].begin(), has[n].end(), true));
        }
    }

    // Divides the sums by the number of steps to make means.
    void finish(double steps)
    {
        const auto processes = static_cast<double>(trace_.processes.size());
        for (ProcessTimes& p : analysis_.processes)
        {
            for (double* const x : {&p.compute, &p.exchange, &p.idle, &p.path}) { *x /= steps; }
        }
        for (std::size_t n = 0; n < of_names_.size(); ++n)
        {
            NamedTimes& t = of_names_[n];
            t.name = trace_.names[n].name;
            t.phase = phase_names[static_cast<std::size_t>(trace_.names[n].phase)];
            t.calls /= steps * processes, t.busy /= steps * processes;
            t.path /= steps, t.path_steps /= steps;
            if (t.calls > 0) { analysis_.names.push_back(t); }
        }
        std::stable_sort(analysis_.names.begin(), analysis_.names.end(), [](const NamedTimes& a, const NamedTimes& b) {
            return std::pair(-a.path, -a.busy) < std::pair(-b.path, -b.busy);
        });
        analysis_.path_gaps /= steps, analysis_.path_messages /= steps;
    }

private:
    static std::uint64_t begin_of(const TracedProcess& process, const ActivityRange& range)
    {
        std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
        for (std::size_t i = range.first; i < range.end; ++i) { begin = std::min(begin, process.activities[i].begin); }
        return begin;
    }
    // Returns the time, us, in which at least one activity ran. Counted are activities in the range for which `belongs` is true.
    template <class Belongs>
    double covered_us(const TracedProcess& process, const ActivityRange& range, const Belongs& belongs)
    {
        spans_.clear();
        for (std::size_t i = range.first; i < range.end; ++i)
        {
            const Activity& a = process.activities[i];
            if (belongs(a)) { spans_.push_back({a.begin, a.end, a.step, a.name}); }
        }
        return us_of(covered_time(spans_));
    }

    // A process may be ahead of others or behind them, so its step lasts from its own first activity to its next one.
    void add_step(const TracedProcess& process, const ActivityRange& range, const ActivityRange& next, ProcessTimes& times)
    {
        const double us = (static_cast<double>(begin_of(process, next)) - static_cast<double>(begin_of(process, range))) * 1e-3;
        times.compute += covered_us(process, range, [](const Activity& a) { return !is_exchange(a.phase); });
        times.exchange += covered_us(process, range, [](const Activity& a) { return is_exchange(a.phase); });
        times.idle += std::max(0.0, us - covered_us(process, range, [](const Activity&) { return true; }));
        for (std::size_t i = range.first; i < range.end; ++i)
        {
            const std::uint16_t name = process.activities[i].name;
            NamedTimes& t = of_names_[name];
            ++t.calls;
            const bool is_first = std::none_of(process.activities.begin() + static_cast<std::ptrdiff_t>(range.first),
                                               process.activities.begin() + static_cast<std::ptrdiff_t>(i),
                                               [&](const Activity& a) { return a.name == name; });
            if (is_first)
            {
                t.busy += covered_us(process, range, [&](const Activity& a) { return a.name == name; });
            }
        }
    }

    const Trace& trace_;
    const std::vector<TracedStep>& steps_;
    TraceAnalysis& analysis_;
    std::vector<NamedTimes> of_names_;
    std::vector<KernelSpan> spans_;
};

void add_lengths(const std::vector<TracedStep>& steps, TraceAnalysis& analysis)
{
    std::vector<double> all, plain, repartition;
    for (const TracedStep& step : steps)
    {
        if (!step.is_counted()) { continue; }
        all.push_back(step.us);
        (step.repartitions ? repartition : plain).push_back(step.us);
        analysis.steps.push_back({step.step, step.us, step.repartitions});
    }
    analysis.all = spread_of_lengths(std::move(all));
    analysis.plain = spread_of_lengths(std::move(plain));
    analysis.repartition = spread_of_lengths(std::move(repartition));
}

void add_processes(const Trace& trace, TraceAnalysis& analysis)
{
    double most = 0, sum = 0;
    for (std::size_t i = 0; i < trace.processes.size(); ++i)
    {
        const TracedProcess& traced = trace.processes[i];
        ProcessTimes& p = analysis.processes[i];
        p.name = traced.name, p.atoms = traced.atoms;
        for (const WaitTimes& wait : analysis.waits) { p.waiting += wait.process == p.name ? wait.us : 0; }
        most = std::max(most, p.compute), sum += p.compute;
        if (!traced.is_gpu) { continue; }
        std::vector<KernelSpan> launches;
        for (const Activity& a : traced.activities) { launches.push_back({a.begin, a.end, a.step, a.name}); }
        p.work = step_work_of_launches(trace.names, launches);
    }
    const double mean = sum / static_cast<double>(trace.processes.size());
    analysis.imbalance = mean > 0 ? most / mean - 1 : 0;
}

// Returns for each GPU the pairs of kernels that ran at the same time, the longest time first.
std::vector<BesideTimes> beside_of(const Trace& trace, const std::vector<TracedStep>& steps)
{
    std::vector<BesideTimes> list;
    const std::size_t names = trace.names.size();
    for (std::size_t p = 0; p < trace.processes.size(); ++p)
    {
        if (!trace.processes[p].is_gpu) { continue; }
        std::vector<std::uint64_t> together(names * names);
        std::size_t counted = 0;
        for (const TracedStep& step : steps)
        {
            if (!step.is_counted()) { continue; }
            ++counted;
            for (std::size_t i = step.of[p].first; i < step.of[p].end; ++i)
            {
                for (std::size_t k = step.of[p].first; k < i; ++k)
                {
                    const Activity &a = trace.processes[p].activities[i], &b = trace.processes[p].activities[k];
                    const std::uint64_t from = std::max(a.begin, b.begin), to = std::min(a.end, b.end);
                    if (from < to) { together[std::min(a.name, b.name) * names + std::max(a.name, b.name)] += to - from; }
                }
            }
        }
        for (std::size_t n = 0; n < together.size(); ++n)
        {
            if (together[n] == 0) { continue; }
            std::string first = trace.names[n / names].name, second = trace.names[n % names].name;
            if (second < first) { std::swap(first, second); }
            list.push_back({trace.processes[p].name, first, second, us_of(together[n]) / static_cast<double>(counted)});
        }
    }
    std::stable_sort(list.begin(), list.end(), [](const BesideTimes& a, const BesideTimes& b) { return a.us > b.us; });
    return list;
}

// Adds the lanes of the typical step: one for each rank on CPUs, one for each GPU and phase.
void add_lanes(const Trace& trace, const std::vector<TracedStep>& steps, std::size_t typical, const std::vector<PathPart>& path,
               TraceAnalysis& analysis)
{
    const TracedStep& step = steps[typical];
    analysis.typical_us = step.us;
    for (std::size_t p = 0; p < trace.processes.size(); ++p)
    {
        const TracedProcess& process = trace.processes[p];
        std::vector<Lane> lanes(process.is_gpu ? static_cast<std::size_t>(phases) : 1);
        for (std::size_t i = step.of[p].first; i < step.of[p].end; ++i)
        {
            const Activity& a = process.activities[i];
            const bool is_on_path = std::any_of(path.begin(), path.end(), [&](const PathPart& part) {
                return part.process == p && part.activity == i && part.kind != PathPart::Kind::Gap;
            });
            const auto phase = static_cast<std::size_t>(a.phase);
            Lane& lane = lanes[process.is_gpu ? phase : 0];
            lane.name = process.is_gpu ? process.name + " " + std::string(phase_names[phase]) : process.name;
            lane.spans.push_back({us_of(a.begin - step.begin), us_of(a.end - step.begin), trace.names[a.name].name, is_on_path});
        }
        std::copy_if(lanes.begin(), lanes.end(), std::back_inserter(analysis.typical),
                     [](const Lane& lane) { return !lane.spans.empty(); });
    }
}

} // namespace

TraceAnalysis analyse(const Trace& trace)
{
    const std::vector<TracedStep> steps = find_steps(trace);
    const Dependences dependences(trace, steps);
    const std::vector<PathPart> path = dependences.critical_path();
    TraceAnalysis analysis;
    analysis.path = trace.path;
    analysis.is_of_gpus = trace.is_of_gpus();
    add_lengths(steps, analysis);
    Sums sums(trace, steps, analysis);
    sums.add_activities();
    sums.add_path(path);
    sums.finish(static_cast<double>(analysis.all.count));
    analysis.waits = waits_of(trace, steps, dependences);
    add_processes(trace, analysis);
    analysis.beside = beside_of(trace, steps);
    const std::size_t typical = typical_step(steps);
    analysis.occupancy = occupancy_of(trace, steps, typical);
    add_lanes(trace, steps, typical, path, analysis);
    analysis.slow = slow_steps(trace, steps, path);
    analysis.advice = advice_on(analysis);
    return analysis;
}

} // namespace parhelion
