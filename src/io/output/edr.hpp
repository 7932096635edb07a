// SPDX-License-Identifier: Apache-2.0
// .edr: the energy file. A frame has the values of every term. It also has their sums and sums of
// squared deviations over all energy calculations since the previous frame. So averages over the run
// are exact however rarely frames are written. The file is always in double precision, which readers
// detect: a float cannot represent the total energy of millions of atoms, and the file is small.
#pragma once

#include "base/numerics.hpp"
#include "io/output/output_file.hpp"
#include "io/output/xdr.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parhelion {

// Returns the unit of an energy-file term: "Pres-XX" bar, "Box-X" nm, ... Terms without an entry have kJ/mol.
std::string_view unit_of_term(std::string_view name);

// Running mean and variance of a list of terms (Welford, Technometrics 4 (1962) 419), in one pass without cancellation.
class TermAverages
{
public:
    explicit TermAverages(std::size_t terms = 0) : mean_(terms), squares_(terms) {}
    // Continues from the earlier results of count(), mean() and squared_deviations().
    TermAverages(std::int64_t count, std::vector<double> mean, std::vector<double> squares)
        : count_(count), mean_(std::move(mean)), squares_(std::move(squares))
    {
    }

    void add(std::span<const double> values); // adds one value for each term
    // Adds all values of `other`, which has as many terms (Chan, Golub, LeVeque, Am. Stat. 37 (1983) 242).
    void add(const TermAverages& other);
    void clear() { *this = TermAverages(mean_.size()); }

    bool is_finite() const;
    std::size_t terms() const { return mean_.size(); }
    std::int64_t count() const { return count_; }
    double mean(std::size_t term) const { return mean_[term]; }
    double sum(std::size_t term) const { return mean_[term] * static_cast<double>(count_); }
    double squared_deviations(std::size_t term) const { return squares_[term]; } // sum of (value - mean)^2
    double standard_deviation(std::size_t term) const;                           // root mean square deviation; 0 without values

private:
    std::int64_t count_ = 0;
    std::vector<double> mean_, squares_;
};

class EdrWriter
{
public:
    // Writes the names and units of the terms, unless `kept` has bytes of an earlier part of the run (see OutputFile).
    // first_step: the earliest step whose energies may follow; dt in ps. Throws the errors of OutputFile.
    EdrWriter(std::string path, const std::vector<std::string>& terms, std::int64_t first_step, double dt,
              const FileMark& kept = {});

    // Writes a frame. values: terms at this step; since_last: averages over all energy calculations
    // since the previous frame, including this step's. Steps must increase. Throws SystemError.
    void write(std::int64_t step, double time, std::span<const double> values, const TermAverages& since_last);
    OutputFile& file() { return file_; }
    void close() { file_.close(); }

private:
    OutputFile file_;
    XdrBuffer buffer_;
    std::size_t terms_;
    std::int64_t next_step_; // first step that the next frame covers
    double dt_;
};

// A term of an energy file.
struct EdrTerm
{
    std::string name, unit;
};

struct EdrFrame
{
    std::int64_t step = 0;
    double time = 0;            // ps
    std::vector<double> values; // values, one for each term
    TermAverages since_last;    // averages over the energy calculations since the previous frame, including this frame's
};

// Reads energy files of this program and of GROMACS since 4.5, in either precision. It skips blocks of other data.
class EdrReader
{
public:
    // Takes the bytes of a file, which must outlive the reader, and its name for
    // messages. Throws InputError E182 if the file does not begin like an energy file.
    EdrReader(std::span<const std::byte> bytes, std::string name);

    const std::vector<EdrTerm>& terms() const { return terms_; }
    // Returns the precision of the values. It is known after the first frame has been read.
    Precision precision() const { return precision_; }
    // Reads the next frame; returns false at the end of the file. Throws InputError E182 for a damaged or incomplete frame.
    bool read(EdrFrame& frame);

private:
    std::string get_text();
    void expect_frame_begin();
    // Reads a frame's description of its blocks, and returns the size of all blocks in bytes.
    std::size_t get_block_sizes(std::int32_t blocks);
    double get_real();

    XdrReader file_;
    std::vector<EdrTerm> terms_;
    Precision precision_ = Precision::Double;
};

} // namespace parhelion
