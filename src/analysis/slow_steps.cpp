// SPDX-License-Identifier: Apache-2.0
// Finds steps that took far longer than others. The cause is the part of their critical path that exceeds its usual length most.
#include "analysis/analysis.hpp"
#include "analysis/critical_path.hpp"
#include "analysis/steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

namespace parhelion {

namespace {

// Kind, process and name of a part of the critical path. A gap has the name of the activity that follows it.
using PartKey = std::tuple<PathPart::Kind, std::size_t, std::uint16_t>;
using Parts = std::map<PartKey, double>; // us

std::vector<Parts> parts_of_steps(const Trace& trace, const std::vector<TracedStep>& steps, const std::vector<PathPart>& path)
{
    std::vector<Parts> of(steps.size());
    for (const PathPart& part : path)
    {
        const std::uint16_t name = trace.processes[part.process].activities[part.activity].name;
        of[part.step][{part.kind, part.process, name}] += part.us();
    }
    return of;
}

double median(std::vector<double> values)
{
    if (values.empty()) { return 0; }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Returns the length above which a step is slow: the median plus six standard deviations or a fifth of the median, whichever is
// larger. The standard deviation is 1.4826 times the median deviation, as in a normal distribution.
double limit_of(const std::vector<double>& lengths)
{
    const double middle = median(lengths);
    std::vector<double> deviations;
    for (const double us : lengths) { deviations.push_back(std::abs(us - middle)); }
    return middle + std::max(6 * 1.4826 * median(deviations), 0.2 * middle);
}

std::string text_of(const Trace& trace, const PartKey& key, double us, double usual)
{
    const auto& [kind, process, name] = key;
    const std::string& who = trace.processes[process].name;
    const std::string times = fmt::format("{:.0f} us, {:.0f} us in other steps", us, usual);
    switch (kind)
    {
    case PathPart::Kind::Gap:
        return fmt::format("{} did nothing before {} for {}: the host or another process had its core", who,
                           trace.names[name].name, times);
    case PathPart::Kind::Exchange:
        return fmt::format("messages of {} to {} took {}: the network, or another process on the cores of a rank",
                           trace.names[name].name, who, times);
    default:
        return fmt::format("{} of {} took {}: another process on its cores or GPU, or lower clocks", trace.names[name].name, who,
                           times);
    }
}

class Causes
{
public:
    Causes(const Trace& trace, const std::vector<TracedStep>& steps, const std::vector<PathPart>& path)
        : trace_(trace), steps_(steps), parts_(parts_of_steps(trace, steps, path))
    {
        std::vector<double> plain, repartition;
        for (const TracedStep& step : steps)
        {
            if (step.is_counted()) { (step.repartitions ? repartition : plain).push_back(step.us); }
        }
        limit_ = limit_of(plain.empty() ? repartition : plain);
        repartition_limit_ = std::max(limit_, limit_of(repartition));
        typical_ = median(plain.empty() ? repartition : plain);
        add_usual();
    }

    bool is_slow(std::size_t s) const { return steps_[s].is_counted() && steps_[s].us > limit_; }
    SlowStep explain(std::size_t s) const
    {
        const TracedStep& step = steps_[s];
        SlowStep slow{step.step, step.us, typical_, "pair list", "a new order of the atoms and new pair lists"};
        if (step.repartitions && step.us <= repartition_limit_) { return slow; }
        double most = 0;
        PartKey key;
        for (const auto& [part, us] : parts_[s])
        {
            if (us - usual(part, step) > most) { most = us - usual(part, step), key = part; }
        }
        if (most == 0)
        {
            slow.cause = "unknown", slow.text = "nothing on its critical path is longer than in other steps";
            return slow;
        }
        if (is_rare_list_work(key, parts_[s].at(key), usual(key, step)))
        {
            slow.text = fmt::format("{} of {} took {:.0f} us, which most steps do not have",
                                    trace_.names[std::get<std::uint16_t>(key)].name,
                                    trace_.processes[std::get<std::size_t>(key)].name, parts_[s].at(key));
            return slow;
        }
        const bool is_output = trace_.names[std::get<std::uint16_t>(key)].phase == Phase::Output;
        const PathPart::Kind kind = std::get<PathPart::Kind>(key);
        slow.cause = kind == PathPart::Kind::Gap        ? "outside"
                     : is_output                        ? "output"
                     : kind == PathPart::Kind::Exchange ? "messages"
                                                        : "slower";
        slow.text = is_output && kind == PathPart::Kind::Work ? "observables or frames are computed and written"
                                                              : text_of(trace_, key, parts_[s].at(key), usual(key, step));
        return slow;
    }

private:
    // Returns true for work on pair lists that most steps do not have, such as pruning, which is due every few steps.
    bool is_rare_list_work(const PartKey& key, double us, double usual) const
    {
        const Phase phase = trace_.names[std::get<std::uint16_t>(key)].phase;
        const bool is_of_lists = phase == Phase::PairList || phase == Phase::Reorder || phase == Phase::Migrate;
        return std::get<PathPart::Kind>(key) == PathPart::Kind::Work && is_of_lists && usual < 0.1 * us;
    }
    // Computes usual_: for both kinds of steps the mean length of each part, over the steps of this kind that are not slow.
    void add_usual()
    {
        std::size_t count[2] = {0, 0};
        for (std::size_t s = 0; s < steps_.size(); ++s)
        {
            const TracedStep& step = steps_[s];
            if (!step.is_counted() || step.us > (step.repartitions ? repartition_limit_ : limit_)) { continue; }
            ++count[step.repartitions];
            for (const auto& [part, us] : parts_[s]) { usual_[step.repartitions][part] += us; }
        }
        for (const int kind : {0, 1})
        {
            for (auto& [part, us] : usual_[kind]) { us /= static_cast<double>(count[kind]); }
        }
    }
    double usual(const PartKey& part, const TracedStep& step) const
    {
        const Parts& parts = usual_[step.repartitions];
        const auto at = parts.find(part);
        return at == parts.end() ? 0 : at->second;
    }

    const Trace& trace_;
    const std::vector<TracedStep>& steps_;
    std::vector<Parts> parts_;
    Parts usual_[2]; // usual parts of steps without and with a repartition
    double limit_ = 0, repartition_limit_ = 0, typical_ = 0;
};

} // namespace

std::vector<SlowStep> slow_steps(const Trace& trace, const std::vector<TracedStep>& steps, const std::vector<PathPart>& path)
{
    const Causes causes(trace, steps, path);
    std::vector<SlowStep> slow;
    for (std::size_t s = 0; s < steps.size(); ++s)
    {
        if (causes.is_slow(s)) { slow.push_back(causes.explain(s)); }
    }
    std::stable_sort(slow.begin(), slow.end(), [](const SlowStep& a, const SlowStep& b) { return a.us > b.us; });
    return slow;
}

} // namespace parhelion
