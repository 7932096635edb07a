// SPDX-License-Identifier: Apache-2.0
// The loop over the steps of a run, the same on CPUs and GPUs. What differs is six functions of an engine:
//
//   next_step()                      the step to be taken next
//   look(run, stop, observer)        tells progress, makes a checkpoint if one is due, and says whether the run ends here; sets
//                                    the interval of the lists from here on
//   advance(run, observer)           takes a step, or queues as many as a GPU is given at once
//   complete(observer)               waits for all that is queued
//   begin_timed(summary)             forgets the times of the steps so far
//   finish(run, summary, observer)   observes the configuration that the run ends with
//
// What returns a bool says whether this engine can go on with the run.
#pragma once

#include "engine/run_length.hpp"
#include "engine/schedule.hpp"

#include <atomic>
#include <optional>

namespace parhelion {

// From which step to which, and what is due in each.
struct RunSpan
{
    // `steps` steps from `begin` on, of a run that began with first_step. The parameters must outlive this.
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
    GiveUp // this engine cannot go on
};

// Nothing if the engine cannot go on.
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
