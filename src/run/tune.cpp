// SPDX-License-Identifier: Apache-2.0
#include "run/tune.hpp"

#include "base/error.hpp"
#include "device/cores.hpp"
#include "model/minimisers.hpp"
#include "run/deadline.hpp"
#include "run/describe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace parhelion {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<int> halvings(int most)
{
    std::vector<int> numbers;
    for (int n = most; n >= 1; n /= 2) { numbers.push_back(n); }
    return numbers;
}

Way on_cpus(const Way& best, int ranks, int threads)
{
    Way way = best;
    way.placement.ranks = ranks, way.placement.threads = threads;
    return way;
}

// Returns ways with fewer threads on one rank, then ways with several ranks that share the cores.
std::vector<Way> numbers_of_threads(const Way& best, int cores)
{
    std::vector<Way> ways;
    for (const int threads : halvings(cores))
    {
        if (threads < cores) { ways.push_back(on_cpus(best, 0, threads)); } // the default has a thread on every core
    }
    for (int ranks = 2; ranks <= cores; ranks *= 2) { ways.push_back(on_cpus(best, ranks, cores / ranks)); }
    return ways;
}

std::vector<Way> numbers_of_gpus(const Way& best, const PlanSummary& plan, int gpus)
{
    std::vector<Way> ways;
    for (const int number : halvings(gpus))
    {
        if (number == plan.gpus) { continue; }
        Way way = best;
        way.placement.gpus = number;
        ways.push_back(way);
    }
    return ways;
}

// Returns grids of as many cells as the plan's. If grids differ only in the order of their axes, only the one with x >= y >= z is
// returned.
std::vector<Way> grids(const Way& best, const PlanSummary& plan)
{
    std::array<int, 3> planned = plan.grid;
    std::sort(planned.rbegin(), planned.rend());
    const int cells = planned[0] * planned[1] * planned[2];
    std::vector<Way> ways;
    for (int x = cells; x >= 1; --x)
    {
        for (int y = std::min(x, cells / x); y >= 1; --y)
        {
            const int z = cells / x / y;
            if (x * y * z != cells || z > y || planned == std::array{x, y, z}) { continue; }
            Way way = best;
            way.placement.grid = {x, y, z};
            ways.push_back(way);
        }
    }
    return ways;
}

std::vector<Way> halo_methods(const Way& best, const PlanSummary& plan)
{
    std::vector<Way> ways;
    for (std::size_t i = 0; i < halo_method_names.size(); ++i)
    {
        const auto method = static_cast<HaloMethod>(i);
        if (method == plan.halo || (!plan.on_gpu && !runs_on_cpus(method))) { continue; }
        Way way = best;
        way.placement.halo = method;
        ways.push_back(way);
    }
    return ways;
}

std::vector<Way> mesh_methods(const Way& best, const PlanSummary& plan)
{
    std::vector<Way> ways;
    for (const MeshMethod method : {MeshMethod::Gathered, MeshMethod::Bricks, MeshMethod::Shared, MeshMethod::Dedicated})
    {
        if (plan.mesh && method == plan.mesh->method) { continue; }
        Way way = best;
        way.placement.pme = method;
        if (method == MeshMethod::Dedicated) { way.placement.mesh_ranks = 1, way.placement.grid = {}; }
        ways.push_back(way);
    }
    return ways;
}

// Returns the next three longer list intervals. For a longer interval the plan takes a longer cut-off with the same tolerance.
std::vector<Way> list_intervals(const Way& best, const PlanSummary& plan)
{
    constexpr std::size_t most = 3;
    std::vector<Way> ways;
    for (const int interval : {15, 20, 25, 30, 40, 50})
    {
        if (interval <= plan.list_interval || ways.size() == most) { continue; }
        Way way = best;
        way.list_interval = interval;
        ways.push_back(way);
    }
    return ways;
}

// Measures ways one by one until TuneRequest::seconds have passed.
class Tuner
{
public:
    Tuner(const LoadedInput& input, const TuneRequest& request, const std::function<void(const Try&)>& told)
        : input_(input), request_(request), told_(told), end_(Clock::now() + to_duration(request.seconds)),
          deadline_(request.seconds, stop_)
    {
    }

    // Returns the samples of a way, or nothing if the time is over before its third window has ended.
    std::optional<Try> measure(const Way& way)
    {
        const Clock::time_point begin = Clock::now();
        RunParameters parameters = input_.parameters;
        if (way.list_interval > 0) { parameters.list_interval = way.list_interval; }
        Simulation simulation(input_.system, std::move(parameters), {request_.numerics, way.placement, {}},
                              state_of(input_.hand_over));
        const std::int64_t steps = steps_of_window(simulation, request_.window_s, 20, stop_);
        if (stop_) { return std::nullopt; }
        Samples samples = take_samples(simulation, steps, TuneRequest::windows, stop_);
        if (stop_) { return std::nullopt; }
        longest_ = std::max(longest_, Clock::now() - begin);
        return Try{way, simulation.plan(), std::move(samples), ""};
    }

    // Does the same for a way that the input may not allow, and reports the result to `told`.
    std::optional<Try> attempt(const Way& way)
    {
        std::optional<Try> result;
        try
        {
            result = measure(way);
        }
        catch (const InputError& error)
        {
            result = Try{way, {}, {}, error.what()};
        }
        if (result) { told_(*result); }
        return result;
    }

    // Returns whether `tries` more measurements end in time, if none takes longer than the longest so far.
    bool has_time_for(int tries) const { return !stop_ && Clock::now() + tries * longest_ < end_; }

private:
    static Clock::duration to_duration(double seconds)
    {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

    const LoadedInput& input_;
    const TuneRequest& request_;
    const std::function<void(const Try&)>& told_;
    const Clock::time_point end_;
    Clock::duration longest_{};
    std::atomic<bool> stop_ = false;
    Deadline deadline_;
};

std::vector<double> joined(const std::vector<double>& a, const std::vector<double>& b)
{
    std::vector<double> all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

// Measures the fastest way and the default once more, and compares all windows of both measurements.
void confirm(Tuner& tuner, Tuning& tuning)
{
    if (tuning.fastest == 0) { return; }
    tuning.is_confirmed = false;
    if (!tuner.has_time_for(2)) { return; }
    for (const std::size_t which : {std::size_t{0}, tuning.fastest})
    {
        std::optional<Try> again = tuner.measure(tuning.tries[which].way);
        if (!again) { return; }
        Samples& samples = tuning.tries[which].samples;
        samples.us_per_step = joined(samples.us_per_step, again->samples.us_per_step);
        std::move(again->samples.runs.begin(), again->samples.runs.end(), std::back_inserter(samples.runs));
        samples.spread = spread_of(samples.us_per_step);
    }
    tuning.is_confirmed = true;
    const auto& us_of = [&](std::size_t which) -> const std::vector<double>& { return tuning.tries[which].samples.us_per_step; };
    if (!is_faster(us_of(tuning.fastest), us_of(0))) { tuning.fastest = 0; }
}

TuneLimits limits_of(const LoadedInput& input, const TuneRequest& request, const PlanSummary& plan)
{
    const RunParameters& p = input.parameters;
    TuneLimits limits;
    limits.cores = request.placement.threads > 0 ? request.placement.threads : available_cores();
    limits.gpus = plan.on_gpu ? std::max(1, request.gpus) : 0;
    limits.has_mesh = p.coulomb == CoulombKind::Pme;
    limits.plans_lists = p.buffer_tolerance >= 0;
    return limits;
}

} // namespace

std::string Way::options() const
{
    const RunPlacement& p = placement;
    std::string text;
    if (p.device == Device::Cpu) { text += " --device cpu"; }
    if (p.gpus > 0) { text += fmt::format(" --gpus {}", p.gpus); }
    else if (p.device == Device::Gpu) { text += " --device gpu"; }
    if (p.ranks > 0) { text += fmt::format(" --ranks {}", p.ranks); }
    if (p.threads > 0) { text += fmt::format(" --threads {}", p.threads); }
    if (p.grid[0] > 0) { text += " --grid " + grid_text(p.grid); }
    if (p.halo) { text += fmt::format(" --halo {}", halo_method_names[static_cast<std::size_t>(*p.halo)]); }
    if (p.balancing != Balancing::Off)
    {
        text += fmt::format(" --dlb {}", balancing_names[static_cast<std::size_t>(p.balancing)]);
    }
    if (p.pme != MeshMethod::Auto)
    {
        text += fmt::format(" --pme {}", mesh_method_names[static_cast<std::size_t>(p.pme)]);
        if (p.pme == MeshMethod::Dedicated) { text += fmt::format(":{}", p.mesh_ranks); }
    }
    return text;
}

bool is_faster(const std::vector<double>& a_us, const std::vector<double>& b_us)
{
    const Spread a = spread_of(a_us), b = spread_of(b_us);
    const double gain = b_us[b.median] - a_us[a.median];
    return a.max < b.min && gain > std::max(a.max - a.min, b.max - b.min);
}

std::vector<Way> ways_of_stage(int stage, const Way& best, const PlanSummary& plan, const TuneLimits& limits)
{
    PARHELION_EXPECTS(stage >= 0 && stage < tune_stages);
    const bool is_shared = plan.ranks > 1;
    switch (stage)
    {
    case 0:
        return limits.gpus > 0 ? numbers_of_gpus(best, plan, limits.gpus) : numbers_of_threads(best, limits.cores);
    case 1:
        return is_shared ? grids(best, plan) : std::vector<Way>{};
    case 2:
        return is_shared ? halo_methods(best, plan) : std::vector<Way>{};
    case 3:
        return is_shared && limits.has_mesh ? mesh_methods(best, plan) : std::vector<Way>{};
    default:
        return limits.plans_lists ? list_intervals(best, plan) : std::vector<Way>{};
    }
}

Tuning tune(const LoadedInput& input, const TuneRequest& request, const std::function<void(const Try&)>& told)
{
    if (is_minimisation(input.parameters.integrator))
    {
        throw InputError(
            "E200", {},
            "a minimisation is not tuned: it ends soon, and no other run has such steps. Give the .mdp of a simulation.");
    }
    Tuner tuner(input, request, told);
    Tuning tuning;
    std::optional<Try> by_default = tuner.measure({request.placement, 0});
    if (!by_default)
    {
        throw SystemError(fmt::format("{:g} s are too short for {} windows of this input (of which at least 20 steps each are "
                                      "timed). Give more with --seconds.",
                                      request.seconds, TuneRequest::windows));
    }
    told(*by_default);
    tuning.tries.push_back(std::move(*by_default));
    const TuneLimits limits = limits_of(input, request, tuning.tries[0].plan);
    for (int stage = 0; stage < tune_stages; ++stage)
    {
        const Try base = tuning.tries[tuning.fastest];
        for (const Way& way : ways_of_stage(stage, base.way, base.plan, limits))
        {
            // Two of the three are for confirm(), which measures the fastest way and the default once more.
            std::optional<Try> one = tuner.has_time_for(3) ? tuner.attempt(way) : std::nullopt;
            if (!one)
            {
                tuning.not_tried.push_back(way);
                continue;
            }
            tuning.tries.push_back(std::move(*one));
            const Try &last = tuning.tries.back(), &best = tuning.tries[tuning.fastest];
            if (last.refused.empty() && is_faster(last.samples.us_per_step, best.samples.us_per_step))
            {
                tuning.fastest = tuning.tries.size() - 1;
            }
        }
    }
    confirm(tuner, tuning);
    return tuning;
}

} // namespace parhelion
