// SPDX-License-Identifier: Apache-2.0
// The .log: a text for people about a run and its results. Each call
// of Log writes one record, which is on disk when the call returns.
#pragma once

#include "base/error.hpp"
#include "io/input/named_list.hpp"
#include "io/output/block_averages.hpp"
#include "io/output/edr.hpp"
#include "io/output/output_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parhelion {

// Returns a sentence for people on how the errors of averages were estimated.
std::string errors_text(const BlockAverages& blocks);

// Writes the log. Every call throws SystemError if the file cannot be written.
class Log
{
public:
    // Opens the log. `kept`: see OutputFile.
    explicit Log(std::string path, const FileMark& kept = {}) : file_(std::move(path), kept, Taken::Empty) {}

    void line(std::string_view text);
    // Writes a title and indented lines "name  value": version, machine, parameters, plan.
    void section(std::string_view title, const std::vector<std::pair<std::string, std::string>>& entries);
    void warning(const Warning& warning);
    // Writes a table of the terms at one step: five columns, each with a name above its value.
    void energies(std::int64_t step, double time, const std::vector<std::string>& terms, std::span<const double> values);
    // Writes for each term its mean, the mean's standard error, the root mean square deviation, and the unit.
    void averages(const std::vector<std::string>& terms, const TermAverages& averages, const BlockAverages& blocks);
    OutputFile& file() { return file_; }
    void close() { file_.close(); }

private:
    void write(std::string_view record);

    OutputFile file_;
};

// The contents of a log, whose run may have been continued several times. Fields without an entry in the log are empty.
struct LoggedRun
{
    std::string version, machine, title;
    NamedList<std::string> about;      // entries "system", "run", "plan", ... of the latest part
    std::vector<std::string> warnings; // warnings, each once
    std::vector<std::string> started;  // start time of each part
};

// Reads a log. Throws InputError E110 if the file cannot be read. Cost: a few passes over the file.
LoggedRun read_log(const std::string& path);

} // namespace parhelion
