// SPDX-License-Identifier: Apache-2.0
// .edr: the energy file. Frames hold the values of every term and, over all energy calculations since the frame before, their
// sums and their sums of squared deviations, so that averages over the whole run are exact however rarely frames are written.
// Always in double precision (readers recognise it): the total energy of millions of atoms does not fit a float, and the file is
// small.
#pragma once

#include "io/output_file.hpp"
#include "io/xdr.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parhelion {

// The unit of an energy-file term: "Pres-XX" bar, "Box-X" nm, ...; kJ/mol for all that are not known as something else.
std::string_view unit_of_term(std::string_view name);

// Running mean and spread of a list of terms (Welford, Technometrics 4 (1962) 419): one pass, no cancellation.
class TermAverages
{
public:
    explicit TermAverages(std::size_t terms = 0) : mean_(terms), squares_(terms) {}
    // Goes on from what count(), mean() and squared_deviations() said.
    TermAverages(std::int64_t count, std::vector<double> mean, std::vector<double> squares)
        : count_(count), mean_(std::move(mean)), squares_(std::move(squares))
    {
    }

    void add(std::span<const double> values); // one value per term
    void clear() { *this = TermAverages(mean_.size()); }

    bool is_finite() const;
    std::size_t terms() const { return mean_.size(); }
    std::int64_t count() const { return count_; }
    double mean(std::size_t term) const { return mean_[term]; }
    double sum(std::size_t term) const { return mean_[term] * static_cast<double>(count_); }
    double squared_deviations(std::size_t term) const { return squares_[term]; } // sum of (value - mean)^2
    double standard_deviation(std::size_t term) const; // root mean square deviation; 0 before the first value

private:
    std::int64_t count_ = 0;
    std::vector<double> mean_, squares_;
};

class EdrWriter
{
public:
    // Writes the names and units of the terms, unless some bytes of an earlier part of the run are kept (see OutputFile).
    // first_step: the earliest step whose energies can come; dt in ps. Throws as OutputFile does.
    EdrWriter(std::string path, const std::vector<std::string>& terms, std::int64_t first_step, double dt,
              const FileMark& kept = {});

    // values: the terms at this step; since_last: the averages over all energy calculations after the previous frame, this step's
    // included. Steps increase. Throws SystemError.
    void write(std::int64_t step, double time, std::span<const double> values, const TermAverages& since_last);
    OutputFile& file() { return file_; }
    void close() { file_.close(); }

private:
    OutputFile file_;
    XdrBuffer buffer_;
    std::size_t terms_;
    std::int64_t next_step_; // the first that the coming frame covers
    double dt_;
};

} // namespace parhelion
