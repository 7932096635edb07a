// SPDX-License-Identifier: Apache-2.0
// Analyses a timeline: computes what limits a step, and says in words what to change. Times are in us per step, means over the
// steps for which TracedStep::is_counted() is true (analysis/steps.hpp), unless a comment says otherwise.
//
// Cost: a sort of the blocks of GPUs. All other work is linear in the spans, for exchanges times the number of processes.
#pragma once

#include "analysis/trace.hpp"
#include "trace/step_work.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace parhelion {

struct StepLength
{
    std::int64_t step = 0;
    double us = 0;
    bool repartitions = false;
};

// Statistics of the lengths of steps, us.
struct StepSpread
{
    std::size_t count = 0;
    double mean = 0, deviation = 0, min = 0, median = 0, p95 = 0, max = 0; // p95: the 95th percentile
};

// A phase, or a kernel of a GPU.
struct NamedTimes
{
    std::string name, phase;
    double calls = 0;      // calls per step and process
    double busy = 0;       // time in which at least one call runs, mean over processes
    double path = 0;       // time on the critical path
    double path_steps = 0; // fraction of the steps that have it on their critical path
};

struct ProcessTimes
{
    std::string name;
    std::int64_t atoms = 0; // 0: unknown
    double compute = 0;     // time of activities that are not exchanges
    double exchange = 0;    // time of exchanges, waits included
    double waiting = 0;     // the part of `exchange` in which the process waits for peers
    double idle = 0;        // time without any activity
    double path = 0;        // time that the critical path is on this process
    StepWork work;          // local and nonlocal work (trace/step_work.hpp); only for a GPU
};

struct WaitTimes
{
    std::string process, peer, phase, cause; // cause: activity that took at least half of the peer's time, if any
    double us = 0, steps = 0;                // steps: fraction of the steps that have this wait
};

struct BesideTimes
{
    std::string process, first, second; // first and second: kernels, in alphabetical order
    double us = 0;                      // time in which both run
};

// The fraction of a GPU's multiprocessors that have a block of a kernel, over time.
struct Occupancy
{
    struct Kernel
    {
        std::string name;
        double mean = 0;           // mean over the counted steps (TracedStep::is_counted)
        std::vector<double> share; // over the typical step, in intervals of equal length
    };
    std::string process;
    std::size_t multiprocessors = 0; // number of multiprocessors that ran blocks
    double busy = 0;                 // fraction with a block of any kernel, mean over the counted steps
    double typical_us = 0;           // length of the typical step, us
    std::vector<double> share;       // fraction with a block of any kernel, over the typical step
    std::vector<Kernel> kernels;     // sorted by `mean`, largest first
};

struct SlowStep
{
    std::int64_t step = 0;
    double us = 0, typical_us = 0;
    std::string cause; // kind of cause: "pair list", "output", ...
    std::string text;
};

// A phase or kernel in the typical step, for a figure.
struct Lane
{
    struct Span
    {
        double begin = 0, end = 0; // us since the begin of the step
        std::string name;
        bool is_on_path = false;
    };
    std::string name;
    std::vector<Span> spans;
};

struct TraceAnalysis
{
    std::string path;
    bool is_of_gpus = false;
    StepSpread all, plain, repartition; // plain: steps without a repartition
    std::vector<StepLength> steps;
    std::vector<ProcessTimes> processes;
    std::vector<NamedTimes> names; // sorted by `path`, largest first
    double path_gaps = 0;          // time on the critical path without any activity
    double path_messages = 0;      // time of exchanges on the critical path
    double imbalance = 0;          // largest `compute` of a process, divided by the mean of all, minus 1
    std::vector<WaitTimes> waits;  // longest first
    std::vector<BesideTimes> beside;
    std::vector<Occupancy> occupancy;
    std::vector<SlowStep> slow; // longest first
    std::vector<Lane> typical;  // the step of median length without a repartition
    double typical_us = 0;
    std::vector<std::string> advice; // what limits the step and what to change, the most important first
};

// Returns the analysis of a timeline. Throws InputError E198 if is_counted() is true for no step.
TraceAnalysis analyse(const Trace& trace);

// --- the parts of analyse(), each in its own file

struct TracedStep;
struct PathPart;
class Dependences;

// occupancy.cpp. typical: index of the typical step in `steps`.
std::vector<Occupancy> occupancy_of(const Trace& trace, const std::vector<TracedStep>& steps, std::size_t typical);
// waits.cpp
std::vector<WaitTimes> waits_of(const Trace& trace, const std::vector<TracedStep>& steps, const Dependences& dependences);
// slow_steps.cpp
std::vector<SlowStep> slow_steps(const Trace& trace, const std::vector<TracedStep>& steps, const std::vector<PathPart>& path);
// advice.cpp
std::vector<std::string> advice_on(const TraceAnalysis& analysis);

} // namespace parhelion
