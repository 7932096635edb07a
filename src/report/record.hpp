// SPDX-License-Identifier: Apache-2.0
// The files that a run left under its prefix, gathered for display: the course of its energies (.edr), its results
// (.report.json), its description (.log) and the list of files. A run may be in progress, killed or continued, or
// have no energies. Missing parts stay empty. Cost: the energies in memory, 8 bytes per term and frame.
#pragma once

#include "io/output/edr.hpp"
#include "run/log.hpp"
#include "run/report.hpp"
#include "run/status.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace parhelion {

struct EnergyCourse
{
    std::vector<EdrTerm> terms;
    std::vector<double> times;               // times of the frames, ps
    std::vector<std::vector<double>> values; // indexed by term and frame, in the unit of the term
    std::int64_t first_step = 0, last_step = 0;
    TermAverages averages; // averages over all energy calculations
    BlockAverages blocks;  // blocks of frames; a frame counts with its mean over calculations since the previous frame
    std::string damage;    // the reason why reading stopped; empty: the file is complete

    std::size_t frames() const { return times.size(); }
    // Returns the values of the term with this name, or nothing if there is no such term.
    std::span<const double> of(const std::string& name) const;
};

// Reads an energy file. If its end is damaged or still being written, the frames before it are read.
// Throws InputError E110 if the file cannot be read, E182 if it does not begin like an energy file.
EnergyCourse read_energy_course(const std::string& path);

struct RunRecord
{
    std::string prefix;
    LoggedRun log;
    std::optional<RunReport> report; // report of the latest part that has finished
    std::optional<RunStatus> status; // empty: an earlier version of the program made the run
    EnergyCourse energies;
    NamedList<RunReport::Spread> averages; // averages over the whole run, by term
    std::string averages_from;             // describes the range of the averages, and how errors were estimated
    NamedList<std::uintmax_t> files;       // name and size in bytes

    std::string title() const { return log.title.empty() ? prefix : log.title; }
};

// Reads the files of a run. Throws InputError E187 if no file has this prefix, and the errors of the files' readers.
RunRecord read_record(const std::string& prefix);

} // namespace parhelion
