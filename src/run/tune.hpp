// SPDX-License-Identifier: Apache-2.0
// Finds the fastest way of running an input on this machine. Ways are measured one after another, in one process, without files,
// until the time is over. The stages vary, in this order: threads and ranks (on CPUs) or the number of GPUs, the grid, the halo
// method, the method by which ranks share PME's mesh, and the list interval. Each stage varies the fastest way found so far.
// Nothing else determines the order of the ways.
//
// Way A is called faster than way B only if every window of A is faster than every window of B, and if the median gains more than
// the spread of either. At the end the fastest way and the default are measured once more, and the same must hold for all
// windows of both measurements. Two equally fast ways pass this test by chance in one case of 20 with three windows each, and in
// one of 924 with the six windows of both measurements.
#pragma once

#include "engine/options.hpp"
#include "io/input/load.hpp"
#include "run/samples.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

struct Way
{
    RunPlacement placement;
    int list_interval = 0; // nstlist, the lower bound of the planned list interval; 0: that of the input

    // Returns options of `run`, such as " --ranks 2 --threads 1", or "" for the default. The list interval has no option.
    std::string options() const;
};

struct Try
{
    Way way;
    PlanSummary plan;
    Samples samples;     // empty if the way was refused
    std::string refused; // reason why the input does not allow this way; empty: it was measured
};

struct TuneRequest
{
    RunNumerics numerics;
    RunPlacement placement; // placement of the default way; `threads` limits the threads of all ranks
    int gpus = 0;           // number of GPUs that may be used
    double seconds = 60;    // wall time of the whole search; a measurement in progress is then stopped
    double window_s = 1;    // approximate wall time of a window
    static constexpr int windows = 3;
};

struct Tuning
{
    std::vector<Try> tries;     // measured and refused ways; the first is the default
    std::size_t fastest = 0;    // index in `tries`; 0, the default, unless is_faster() says that another way is faster
    std::vector<Way> not_tried; // ways for which there was no time
    bool is_confirmed = true;   // false: there was no time to measure the fastest way once more
};

// Returns true if every window of `a` is faster than every window of `b` and the median gains more than either spread. Unit: us
// per step, in any order. Precondition: neither list is empty.
bool is_faster(const std::vector<double>& a_us, const std::vector<double>& b_us);

struct TuneLimits
{
    int cores = 1; // number of cores for the threads of all ranks
    int gpus = 0;  // number of GPUs; 0: the run is on CPUs
    bool has_mesh = false;
    bool plans_lists = true; // false: the input gives the list's cut-off and interval, which stay
};

// Returns the ways of a stage, in the order in which they are tried. They vary `best`, whose plan is `plan`. Precondition:
// 0 <= stage < tune_stages.
inline constexpr int tune_stages = 5;
std::vector<Way> ways_of_stage(int stage, const Way& best, const PlanSummary& plan, const TuneLimits& limits);

// Measures ways until the time is over, and calls told() with each result. Throws as Simulation's constructor and run() for the
// default way, InputError E200 for a minimisation, and SystemError if the time is too short for three windows of the default.
Tuning tune(const LoadedInput& input, const TuneRequest& request, const std::function<void(const Try&)>& told);

} // namespace parhelion
