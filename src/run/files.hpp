// SPDX-License-Identifier: Apache-2.0
// The output of a run: trajectory, energies, log and checkpoints. RunFiles is the engine's
// observer. It passes events on to the run's own observer if they are meant for it.
#pragma once

#include "engine/simulation.hpp"
#include "io/input/checkpoint.hpp"
#include "io/output/output.hpp"
#include "model/system.hpp"
#include "run/energy_table.hpp"
#include "run/force_trend.hpp"
#include "run/log.hpp"
#include "run/observer.hpp"
#include "run/report.hpp"
#include "run/status.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

struct RunFilesOptions
{
    std::string prefix;
    Precision precision = Precision::Mixed; // precision of the .trr
    double checkpoint_interval = 0;         // s
    bool h5md = false;                      // write PREFIX.h5md
};

class RunFiles final : public Observer
{
public:
    // If `continued` is not null, the files are continued from its positions. It was read
    // from `checkpoints`. No file is changed before start(). `identity`: the run's identity,
    // for its checkpoints. Throws InputError if the files are not those of the checkpoint.
    RunFiles(const RunFilesOptions& options, const System& system, const RunParameters& parameters,
             NamedList<std::string> identity, CheckpointFiles&& checkpoints, const Checkpoint* continued, RunObserver& observer);

    // Opens the .log, and .xtc, .trr, .edr, .h5md if the parameters ask for them. steps_total < 0: the run has no known end.
    void start(std::int64_t steps_total);
    Log& log() { return *log_; }

    // Makes a frame with an excluded pair beyond PME's cut-off throw PhysicsError E543. `topology` must outlive this object.
    void watch_exclusions(const Topology& topology) { topology_ = &topology; }
    void expect_exclusions_near(const Frame& frame) const;

    void frame(const OutputDue& due, Frame&& frame) override;
    void energies(const OutputDue& due, const Observables& observables) override;
    void progress(std::int64_t steps_done, std::int64_t steps_total, double temperature) override;
    // Reports progress to the observer and the status file, not to the log. steps_total < 0: the run has no known end.
    void show_progress(std::int64_t steps_done, std::int64_t steps_total);
    bool checkpoint_due() override { return Clock::now() >= next_checkpoint_; }
    void checkpoint(SavedState&& state) override;
    void message(const std::string& text) override;
    // Reports a warning to the observer and the log.
    void warning(const std::string& text);
    // Writes the error that ended the run to the log, if the log can still be written.
    void log_failure(const std::string& text) noexcept;

    // Writes the checkpoint of a run that has stopped or ended. `reached`: the step up to which all files are complete.
    void checkpoint_at_end(SavedState&& state, std::int64_t reached) { write_checkpoint(std::move(state), reached); }
    // Ends the output: all files are on disk, and the averages are in the log. Throws errors of the output thread.
    void close();
    // Writes to the status file how the run has ended. A run for which this is not called counts as failed.
    void end_status(RunState state) { status_.end(state); }
    NamedList<RunReport::Spread> averages() const;
    // Returns averages of the most important quantities, their errors, and how the errors were estimated.
    std::string averages_text() const;
    std::int64_t first_step() const { return first_step_; } // first step of this part of the run
    // Returns the name of a trajectory with all atoms of the .gro, or nothing if the run has no such trajectory.
    std::string trajectory() const;

private:
    using Clock = std::chrono::steady_clock;

    std::string log_path() const { return options_.prefix + ".log"; }
    void expect_h5md() const;
    RunOutputPlan output_plan() const; // returns the output files that the parameters ask for
    // Notes the present ends of the files. Later output belongs to steps after the next checkpoint.
    void note_position();
    void write_checkpoint(SavedState&& state, std::int64_t reached);
    Clock::duration checkpoint_interval() const
    {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.checkpoint_interval));
    }
    void tell_remarks();

    const RunFilesOptions options_;
    RunObserver& observer_;
    const RunParameters parameters_;
    EnergyTable table_;
    std::vector<std::int64_t> compressed_atoms_; // global atoms of the .xtc; empty: all atoms
    H5mdPlan h5md_;                              // its lists are there until the file is open
    std::int64_t atoms_;
    double mass_;                        // u
    std::vector<bool> watched_types_;    // indexed by molecule type; empty: no excluded pairs are watched
    const Topology* topology_ = nullptr; // topology of the watched pairs
    NamedList<std::string> identity_;
    CheckpointFiles checkpoints_;
    std::int64_t first_step_; // first step of this part of the run
    OutputPosition written_;  // ends of the files now, except lengths of the binary files
    OutputPosition noted_;    // ends of the files at the last rebuild of the pair list, except lengths
    OutputMarks noted_files_; // lengths of the files at that rebuild; only the output thread uses it after the start
    std::mutex remarks_mutex_;
    std::vector<std::string> remarks_; // remarks of the output thread, not reported yet; guarded by remarks_mutex_
    bool wrote_since_note_ = false;
    Clock::time_point next_checkpoint_;
    std::optional<Log> log_;
    StatusFile status_; // declared before the output thread, which writes it, so that it is destroyed after that thread
    std::optional<RunOutput> output_;
    ForceTrend force_trend_; // in a minimisation
    ProgressValues latest_;
};

} // namespace parhelion
