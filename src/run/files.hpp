// SPDX-License-Identifier: Apache-2.0
// The output of a run: trajectory, energies, log and checkpoints, as an observer of the simulation that passes on to the run's
// own observer what that may hear.
#pragma once

#include "engine/simulation.hpp"
#include "io/checkpoint.hpp"
#include "io/output.hpp"
#include "model/system.hpp"
#include "run/energy_table.hpp"
#include "run/log.hpp"
#include "run/observer.hpp"
#include "run/report.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

struct RunFilesOptions
{
    std::string prefix;
    Precision precision = Precision::Mixed; // of the .trr
    double checkpoint_interval = 0;         // s
};

class RunFiles final : public Observer
{
public:
    // The files go on where `continued`, read from `checkpoints`, left them, if that is not null; none is touched before start().
    // `identity`: of the run, for its checkpoints. Throws InputError if the files are not those that the checkpoint was made
    // with.
    RunFiles(const RunFilesOptions& options, const System& system, const RunParameters& parameters,
             NamedList<std::string> identity, CheckpointFiles&& checkpoints, const Checkpoint* continued, RunObserver& observer);

    void start(); // opens .log, and .xtc, .trr, .edr as the parameters ask for them
    Log& log() { return *log_; }

    // From now on a frame with an excluded pair that has left PME's cut-off throws PhysicsError E543. `topology` outlives this.
    void watch_exclusions(const Topology& topology) { topology_ = &topology; }
    void expect_exclusions_near(const Frame& frame) const;

    void frame(const OutputDue& due, Frame&& frame) override;
    void energies(const OutputDue& due, const Observables& observables) override;
    void progress(std::int64_t steps_done, std::int64_t steps_total, double temperature) override;
    // To the observer alone; steps_total < 0: no end is known.
    void show_progress(std::int64_t steps_done, std::int64_t steps_total);
    bool checkpoint_due() override { return Clock::now() >= next_checkpoint_; }
    void checkpoint(SavedState&& state) override;
    void message(const std::string& text) override;
    // What nobody should miss.
    void warning(const std::string& text);
    // What ended the run, in the log if that can still be written.
    void log_failure(const std::string& text) noexcept;

    // Of a run that has stopped or ended; complete up to step `reached`: what a run of so many steps leaves is all there.
    void checkpoint_at_end(SavedState&& state, std::int64_t reached) { write_checkpoint(std::move(state), reached); }
    // No more steps: everything on disk, the averages in the log. Throws what the output thread met.
    void close();
    NamedList<RunReport::Spread> averages() const;
    // Averages of what people look at first, with their errors, and how these were found.
    std::string averages_text() const;
    std::int64_t first_step() const { return first_step_; } // of this part of the run
    // The trajectory that has all atoms of the .gro; empty: none.
    std::string trajectory() const;

private:
    using Clock = std::chrono::steady_clock;

    std::string log_path() const { return options_.prefix + ".log"; }
    RunOutputPlan output_plan() const; // of what the parameters ask for
    // What is written from here on comes after the step of the next checkpoint.
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
    std::vector<std::int64_t> compressed_atoms_; // empty: all
    std::int64_t atoms_;
    double mass_;                        // u
    std::vector<bool> watched_types_;    // by molecule type; empty: excluded pairs are not watched
    const Topology* topology_ = nullptr; // of the watch
    NamedList<std::string> identity_;
    CheckpointFiles checkpoints_;
    std::int64_t first_step_; // of this part of the run
    OutputPosition written_;  // so far; the lengths of the binary files are not kept up to date here
    OutputPosition noted_;    // at the last rebuild of the pair list; same here
    OutputMarks noted_files_; // there the lengths are; belongs to the output thread once started
    std::mutex remarks_mutex_;
    std::vector<std::string> remarks_; // of the output thread, to be told; guarded by remarks_mutex_
    bool wrote_since_note_ = false;
    Clock::time_point next_checkpoint_;
    std::optional<Log> log_;
    std::optional<RunOutput> output_;
    ProgressValues latest_;
};

} // namespace parhelion
