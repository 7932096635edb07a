// SPDX-License-Identifier: Apache-2.0
// The output of a run: trajectory, energies, log and progress, as an observer of the simulation.
#pragma once

#include "energy_table.hpp"
#include "engine/simulation.hpp"
#include "io/log.hpp"
#include "io/output.hpp"
#include "io/progress.hpp"
#include "io/report.hpp"
#include "model/system.hpp"

#include <memory>
#include <optional>

namespace parhelion {

struct RunFilesOptions
{
    std::string prefix;
    Precision precision = Precision::Mixed; // of the .trr
    bool quiet = false;                     // no progress
};

class RunFiles final : public Observer
{
public:
    // Opens PREFIX.log and, as the parameters ask for them, .xtc, .trr, .edr.
    RunFiles(const RunFilesOptions& options, const System& system, const RunParameters& parameters);

    Log& log() { return log_; }
    void start(); // opens the binary files; progress counts from here

    void frame(const OutputDue& due, Frame&& frame) override;
    void energies(const OutputDue& due, const Observables& observables) override;
    void progress(std::int64_t steps_done, std::int64_t steps_total, double temperature) override;
    void message(const std::string& text) override;

    // Everything on disk, the averages in the log. Throws what the output thread met.
    void close();
    NamedList<RunReport::Spread> averages() const;

private:
    void end_progress(); // the live line must end before anything else is printed

    const RunFilesOptions options_;
    const RunParameters parameters_;
    EnergyTable table_;
    std::vector<std::int64_t> compressed_atoms_; // empty: all
    Log log_;
    std::optional<RunOutput> output_;
    TermAverages since_frame_, whole_run_;
    std::optional<Progress> progress_;
};

} // namespace parhelion
