// SPDX-License-Identifier: Apache-2.0
// The loop over the steps of a run, the same on CPUs and GPUs. An engine provides six functions:
//
//  next_step()                      returns the step to be taken next
//   look(run, stop, observer)        reports progress, makes a checkpoint if one is due, returns whether the run ends here, and
//                                    sets the list interval of the next steps
//   advance(run, observer)           takes a step, or queues as many steps as a GPU is given at once
//   complete(observer)               waits for all queued work
//   begin_timed(summary)             discards the times measured so far
//   finish(run, summary, observer)   observes the last configuration of the run
//
// A function that returns a bool returns false if this engine cannot continue the run.
#pragma once

#include "engine/run_length.hpp"
#include "engine/schedule.hpp"

#include <atomic>
#include <optional>

namespace parhelion {

// The range of steps of a run, and which tasks are due in each step.
struct RunSpan
{
    // The range has `steps` steps from `begin` on, in a run that began at first_step. `parameters` must outlive this object.
    RunSpan(const RunParameters& parameters, int list_interval, std::int64_t first_step, std::int64_t begin, std::int64_t steps)
        : first(begin), last(begin + steps), steady(steady_from(begin, steps)), time_step(parameters.dt),
          schedule(parameters, list_interval, first_step, last)
    {
    }

    bool begins_list(std::int64_t step) const { return step == first || schedule.flags(step).repartition; }

    const std::int64_t first, last;
    const std::int64_t steady; // the first step that is timed
    const double time_step;    // ps
    Schedule schedule;
};

enum class Look : std::uint8_t
{
    GoOn,
    Stop,
    GiveUp // this engine cannot continue the run
};

// Runs the steps. Returns the summary, or nothing if the engine cannot continue the run.
template <class Engine>
std::optional<RunSummary> run_steps(Engine& engine, RunSpan& run, Observer& observer, const std::atomic<bool>& stop)
{
    const Stopwatch whole;
    Stopwatch timed = whole;
    std::int64_t timed_from = run.first;
    RunSummary summary;
    for (;;)
    {
        const Look look = engine.look(run, stop, observer);
        if (look == Look::GiveUp) { return {}; }
        if (look == Look::Stop || engine.next_step() == run.last) { break; }
        if (engine.next_step() >= run.steady && timed_from < run.steady)
        {
            if (!engine.complete(observer)) { return {}; }
            engine.begin_timed(summary);
            timed_from = engine.next_step();
            timed = {};
        }
        if (!engine.advance(run, observer)) { return {}; }
    }
    if (!engine.complete(observer)) { return {}; }
    summary.end = engine.next_step() < run.last ? RunEnd::Stopped : RunEnd::Done;
    summary.steps = engine.next_step() - run.first;
    set_rates(summary, run.time_step, engine.next_step() - timed_from, timed);
    if (!engine.finish(run, summary, observer)) { return {}; }
    summary.wall_s = whole.wall_s();
    return summary;
}

} // namespace parhelion
