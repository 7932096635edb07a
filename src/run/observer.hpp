// SPDX-License-Identifier: Apache-2.0
// The events that a run reports. A terminal, a notebook or a test derives from RunObserver and overrides the functions for
// events of interest. RunObserver itself ignores all events.
//
// Threads: calls come one at a time, but not always from the thread that called run_simulation(): the first rank makes the calls
// during steps. A call must return quickly, because ranks wait for it; no deadline expires meanwhile. If an observer throws, the
// run ends and run_simulation() rethrows. Files and checkpoints stay as they are. During steps the error's text goes to the log.
//
// Processes: a run may have several processes (run/run.hpp), each with its own observer.
// Only the observer of the process that writes files gets the events of the steps.
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
    std::string text;             // description of the run, its system and its plan: lines for people
    PlanSummary plan;             // the plan as data, for programs
    double dt = 0;                // ps; 0: energy minimisation
    std::int64_t steps_done = 0;  // steps done by earlier parts of the run
    std::int64_t steps_total = 0; // negative: the run has no end
};

struct RunProgress
{
    std::int64_t steps_done = 0, steps_total = 0; // steps done and in all, counted as in RunBegin
    ProgressValues values;
};

// The energies of one step, including steps that the energy file omits. The spans are valid during the call.
struct RunEnergies
{
    std::int64_t step = 0;
    double time = 0;                    // ps
    std::span<const std::string> names; // GROMACS' names of the terms (run/energy_table.hpp)
    std::span<const double> values; // values of the terms in the order of `names`, each in the unit that unit_of_term() returns
};

// The outcome of a run.
struct RunResult
{
    RunEnd end = RunEnd::Done;
    bool was_complete = false; // the run was complete before: no step was taken, no file changed; only `reached` is set
    bool minimised = false;
    std::int64_t reached = 0; // the last step
    // The following members are set only in the process that writes files.
    RunSummary summary;
    PlanSummary plan;
    RunReport report;       // contents of PREFIX.report.json
    std::string averages;   // lines with averages of the most important quantities and their errors; empty: none
    std::string trajectory; // file with all atoms of PREFIX.gro; empty: there is none
};

class RunObserver
{
public:
    virtual ~RunObserver() = default;

    // warning() reports a line that begins with "warning: " or "note: ", message() a line about
    // an event. The log has all these lines, except warnings on the input that precede the log.
    virtual void warning(const std::string& /*line*/) {}
    virtual void message(const std::string& /*line*/) {}
    // Reports the notes on the input, which are not warnings; the list may be empty. The log has these notes.
    virtual void notes(const std::vector<Warning>& /*notes*/) {}

    // Called when the run is known to be possible. From now on raising `stop` ends it with a checkpoint. With
    // several processes it is called before they are forked, and once more in the process that writes files.
    virtual void prepared() {}
    // Called when the files are open and the steps are about to begin.
    virtual void begins(const RunBegin&) {}
    // Called at each rebuild of the pair list, many times a second, and after the last step.
    virtual void progress(const RunProgress&) {}
    // Called with each frame that is written or that RunOutputs::stream_every asks for. Arrays that nobody needs in this step are
    // empty.
    virtual void frame(const Frame&) {}
    virtual void energies(const RunEnergies&) {}
    // Called when no more steps will be taken, whatever the outcome of the run.
    virtual void steps_over() {}
    // Called when all files are written, in the process that writes files, before run_simulation() returns.
    virtual void ended(const RunResult&) {}

    // If a launcher started several processes, only one of them should print. This call says whether
    // this process is the one, from now on, including its end. Until then each process should print.
    // The call may come from another thread, just before a call of RunRequest::end_process.
    virtual void speaks(bool /*does*/) {}
};

} // namespace parhelion
