// SPDX-License-Identifier: Apache-2.0
// The .log: what a person reads to learn what was run and how it went. Plain text, one record per call, on disk when the call
// returns.
#pragma once

#include "base/error.hpp"
#include "io/block_averages.hpp"
#include "io/edr.hpp"
#include "io/output_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parhelion {

// How the errors of averages were found, for people.
std::string errors_text(const BlockAverages& blocks);

// Every call throws SystemError if the file cannot be written.
class Log
{
public:
    // kept: see OutputFile.
    explicit Log(std::string path, const FileMark& kept = {}) : file_(std::move(path), kept, Taken::Empty) {}

    void line(std::string_view text);
    // A title and indented "name  value" lines: version, machine, parameters, plan.
    void section(std::string_view title, const std::vector<std::pair<std::string, std::string>>& entries);
    void warning(const Warning& warning);
    // One table of the terms at one step: five columns of name above value.
    void energies(std::int64_t step, double time, const std::vector<std::string>& terms, std::span<const double> values);
    // Mean, its standard error, root mean square deviation and unit of every term.
    void averages(const std::vector<std::string>& terms, const TermAverages& averages, const BlockAverages& blocks);
    OutputFile& file() { return file_; }
    void close() { file_.close(); }

private:
    void write(std::string_view record);

    OutputFile file_;
};

} // namespace parhelion
