// SPDX-License-Identifier: Apache-2.0
// What a run tells while it goes on. Whoever has a terminal, a notebook or a test derives from RunObserver and overrides what is
// of interest; RunObserver itself hears nothing.
//
// Threads: calls come one at a time, but not always from the thread that called run_simulation(): the first rank makes those of
// the steps. They must return quickly, for the ranks wait; no deadline passes meanwhile. An observer that throws ends the run:
// run_simulation() throws it on, and files and checkpoints stay as they are; of an error during the steps the log has the text.
//
// Processes: a run may be spread over several (run/run.hpp). Each has an observer of its own; the steps are told to the one of
// the process that writes.
#pragma once

#include "base/error.hpp"
#include "engine/simulation.hpp"
#include "model/frame.hpp"
#include "run/progress.hpp"
#include "run/report.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace parhelion {

struct RunBegin
{
    std::string text;             // what is run, on what and by which plan: lines for people
    PlanSummary plan;             // the same for programs
    double dt = 0;                // ps; 0: a minimisation
    std::int64_t steps_done = 0;  // by earlier parts of the run
    std::int64_t steps_total = 0; // negative: no end
};

struct RunProgress
{
    std::int64_t steps_done = 0, steps_total = 0; // as in RunBegin
    ProgressValues values;
};

// Energies of one step, also of those that the energy file leaves out. Valid during the call.
struct RunEnergies
{
    std::int64_t step = 0;
    double time = 0;                    // ps
    std::span<const std::string> names; // GROMACS' (run/energy_table.hpp)
    std::span<const double> values;     // by name, in the unit that unit_of_term() says
};

// How a run has ended.
struct RunResult
{
    RunEnd end = RunEnd::Done;
    bool was_complete = false; // before: no step was taken and no file changed. Then only `reached` says more
    bool minimised = false;
    std::int64_t reached = 0; // step
    // The rest is known to the process that writes, no other.
    RunSummary summary;
    PlanSummary plan;
    RunReport report;       // what PREFIX.report.json says
    std::string averages;   // of what people look at first, with their errors: lines; empty: none
    std::string trajectory; // the file that has all atoms of PREFIX.gro; empty: none
};

class RunObserver
{
public:
    virtual ~RunObserver() = default;

    // A line that nobody should miss, with "warning: " or "note: " before it, and one that tells what happened. The log has both,
    // but for warnings on the input that come before there is a log.
    virtual void warning(const std::string& /*line*/) {}
    virtual void message(const std::string& /*line*/) {}
    // Notes on the input, which are no warnings; may be none. The log has them.
    virtual void notes(const std::vector<Warning>& /*notes*/) {}

    // The run is possible. From now on raising `stop` ends it with a checkpoint. In a run of several processes, before they part,
    // and once more in the one that writes.
    virtual void prepared() {}
    // The files are open, and the steps are about to begin.
    virtual void begins(const RunBegin&) {}
    // At each rebuild of the pair list, many times a second, and after the last step.
    virtual void progress(const RunProgress&) {}
    // A frame that is written. Arrays that no file needs in this step are empty.
    virtual void frame(const Frame&) {}
    virtual void energies(const RunEnergies&) {}
    // No step is taken any more, whatever comes of the run.
    virtual void steps_over() {}
    // All is written. In the process that writes, before run_simulation() returns.
    virtual void ended(const RunResult&) {}

    // Where a launcher has started several processes, only one should write to people. This tells whether it is this process,
    // from now on and also for how the run ends; until it is called, each should. May come from another thread, just before
    // RunRequest::end_process is called.
    virtual void speaks(bool /*does*/) {}
};

} // namespace parhelion
