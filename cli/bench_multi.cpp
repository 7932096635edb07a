// SPDX-License-Identifier: Apache-2.0
// `parhelion bench multi`: measures how fast several simulations of one system are together. They run as those of `parhelion run
// --multi` do: each in a thread of its own, dealt out among GPUs or cores. All of them take steps during all timed windows.
#include "commands.hpp"
#include "device/cores.hpp"
#include "device/device_memory_error.hpp"
#include "engine/run_length.hpp"
#include "run/describe.hpp"
#include "run/many.hpp"
#include "series.hpp"
#include "trace/spread.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <deque>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

namespace parhelion {

namespace {

using Clock = std::chrono::steady_clock;

// One of the simulations: the steps that it has taken, for the thread that times all of them.
struct Counted final : Observer
{
    void progress(std::int64_t steps_done, std::int64_t, double) override { steps.store(steps_done, std::memory_order_relaxed); }

    std::atomic<std::int64_t> steps = 0;
    PlanSummary plan;
};

struct TimedWindow
{
    std::vector<double> steps_per_second; // of each simulation
    double host_cores = 0;                // cores that the process kept busy

    double sum() const { return std::accumulate(steps_per_second.begin(), steps_per_second.end(), 0.0); }
};

TimedWindow time_window(const std::deque<Counted>& all, double seconds, const std::atomic<bool>& has_failed)
{
    const auto steps = [&] {
        std::vector<std::int64_t> now;
        for (const Counted& one : all) { now.push_back(one.steps.load(std::memory_order_relaxed)); }
        return now;
    };
    const std::vector<std::int64_t> before = steps();
    const auto begin = Clock::now();
    const std::clock_t busy = std::clock();
    while (Clock::now() - begin < std::chrono::duration<double>(seconds) && !has_failed)
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    TimedWindow window;
    window.host_cores = static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC / took;
    const std::vector<std::int64_t> after = steps();
    for (std::size_t i = 0; i < all.size(); ++i)
    {
        window.steps_per_second.push_back(static_cast<double>(after[i] - before[i]) / took);
    }
    return window;
}

struct Measured
{
    std::vector<TimedWindow> windows;
    Spread spread{}; // spread of the windows' rates, each summed over simulations
    PlanSummary plan;

    const TimedWindow& median() const { return windows[spread.median]; }
};

// Runs this number of simulations until all windows are timed. Throws the first error of any of them.
Measured measure(const LoadedInput& input, const BenchMultiOptions& options, int runs, const std::vector<int>& gpus)
{
    const CoresOfRuns shares = share_cores_among_runs(cores_of(pthread_self()), available_cores(), runs, runs, options.threads);
    std::deque<Counted> all(static_cast<std::size_t>(runs));
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::exception_ptr error;
    std::barrier ready(runs + 1); // waits until all simulations are ready
    const auto simulate = [&](std::size_t run) {
        bool is_ready = false;
        try
        {
            EngineOptions engine;
            engine.placement.device = gpus.empty() ? Device::Cpu : Device::Gpu;
            engine.placement.threads = shares.threads;
            if (!gpus.empty()) { engine.placement.gpu = gpus[run % gpus.size()]; }
            else if (!shares.cores.empty()) { move_to(pthread_self(), shares.cores[run]); }
            Simulation simulation(input.system, input.parameters, simulation_options(engine));
            all[run].plan = simulation.plan();
            is_ready = true;
            ready.arrive_and_wait();
            simulation.run(endless, all[run], stop);
        }
        catch (...)
        {
            const std::scoped_lock lock(mutex);
            if (!error) { error = std::current_exception(); }
            stop = true;
        }
        if (!is_ready) { ready.arrive_and_drop(); }
    };
    std::vector<std::jthread> threads;
    for (std::size_t run = 0; run < all.size(); ++run) { threads.emplace_back(simulate, run); }
    ready.arrive_and_wait();
    Measured measured;
    time_window(all, 0.5 * options.seconds, stop); // captures graphs, and lets lists reach their final capacity
    std::vector<double> sums;
    for (int n = 0; n < options.repetitions && !stop; ++n)
    {
        measured.windows.push_back(time_window(all, options.seconds, stop));
        sums.push_back(measured.windows.back().sum());
    }
    stop = true;
    threads.clear(); // joins them
    if (error) { std::rethrow_exception(error); }
    measured.spread = spread_of(sums);
    measured.plan = all.front().plan;
    return measured;
}

LoadedInput input_of(const BenchMultiOptions& options)
{
    if (options.jac.empty()) { return series_input(options.atoms, SeriesElectrostatics::Pme); }
    InputOptions files;
    files.files.mdp = options.jac / "md.mdp";
    files.files.structure = options.jac / "conf.gro";
    files.files.topology = options.jac / "topol.top";
    Diagnostics diagnostics;
    return load_checked(files, Purpose::Run, diagnostics);
}

} // namespace

void command_bench_multi(const BenchMultiOptions& options)
{
    expect_writable(options.json);
    RunPlacement placement;
    placement.device = options.device, placement.gpus = options.gpus > 1 ? options.gpus : 0; // without GPUs the CPU serves
    std::vector<int> gpus = gpus_to_deal(placement);
    gpus.resize(std::min(gpus.size(), static_cast<std::size_t>(options.gpus)));
    const LoadedInput input = input_of(options);
    const std::int64_t atoms = input.system.topology.atom_count();
    const double ns_per_day = 86.4 * input.parameters.dt; // of 1 step/s
    fmt::print("{}\n{}\n{} atoms, {:g} fs, on {}\nns/day of all runs together: the median of {} windows of {:g} s, the least and "
               "the largest; and of each run\n{:>5} {:>10} {:>21} {:>6} {:>14} {:>11}  {}\n",
               version_text(), describe_machine(), atoms, 1000 * input.parameters.dt,
               gpus.empty() ? "CPUs" : fmt::format("{} GPU{}", gpus.size(), gpus.size() == 1 ? "" : "s"), options.repetitions,
               options.seconds, "runs", "ns/day", "least .. largest", "ratio", "us/step of one", "host cores", "each");
    double one = 0; // steps/s of a run, with the first number of runs
    for (const int runs : options.runs)
    {
        Measured measured;
        try
        {
            measured = measure(input, options, runs, gpus);
        }
        catch (const DeviceMemoryError& error) // other numbers of runs may fit
        {
            fmt::print("{:>5} not run: {}\n", runs, error.what());
            continue;
        }
        const TimedWindow& median = measured.median();
        if (one == 0) { one = median.sum() / runs; }
        const double sum = ns_per_day * median.sum(), us_per_step = 1e6 * runs / median.sum();
        nlohmann::ordered_json line = {{"test", "multi"},
                                       {"system", options.jac.empty() ? fmt::format("water-pme-{}", options.atoms) : "jac"},
                                       {"atoms", atoms},
                                       {"timestep_in_fs", 1000 * input.parameters.dt},
                                       {"runs", runs},
                                       {"gpus", gpus.size()},
                                       {"threads", measured.plan.threads},
                                       {"kernel", measured.plan.kernel},
                                       {"ns_per_day", sum},
                                       {"ratio", median.sum() / one},
                                       {"us_per_step_of_one", us_per_step},
                                       {"host_cores", median.host_cores},
                                       {"gpu_bytes_of_one", measured.plan.on_gpu ? measured.plan.bytes : 0}};
        std::vector<double> each;
        for (const TimedWindow& window : measured.windows) { line["ns_per_day_samples"].push_back(ns_per_day * window.sum()); }
        for (const double rate : median.steps_per_second) { each.push_back(ns_per_day * rate); }
        line["ns_per_day_of_runs"] = each;
        line.update({{"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
                     {"machine", describe_machine()},
                     {"version", version_text()}});
        fmt::print("{:>5} {:>10.1f} {:>21} {:>6.2f} {:>14.1f} {:>11.2f}  {:.1f}\n", runs, sum,
                   fmt::format("{:.1f} .. {:.1f}", ns_per_day * measured.spread.min, ns_per_day * measured.spread.max),
                   median.sum() / one, us_per_step, median.host_cores, fmt::join(each, " "));
        std::fflush(stdout);
        append_line(options.json, line.dump());
    }
}

} // namespace parhelion
