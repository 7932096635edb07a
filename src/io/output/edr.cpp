// SPDX-License-Identifier: Apache-2.0
#include "io/output/edr.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace parhelion {
namespace {
constexpr std::int32_t file_magic = -55555, frame_magic = -7777777, file_version = 5;
constexpr double new_style = -2e10; // stored in place of the oldest format's time; also tells float files from double files
} // namespace

std::string_view unit_of_term(std::string_view name)
{
    if (name == "Temperature" || name.starts_with("T-")) { return "K"; }
    if (name.starts_with("Pres")) { return "bar"; } // Pressure, Pres. DC, Pres-XX ...
    if (name.starts_with("Box-")) { return "nm"; }
    if (name == "Volume") { return "nm^3"; }
    if (name == "Density") { return "kg/m^3"; }
    if (name == "#Surf*SurfTen") { return "bar nm"; }
    if (name == "Constr. rmsd") { return ""; }
    return "kJ/mol";
}

void TermAverages::add(std::span<const double> values)
{
    PARHELION_EXPECTS(values.size() == mean_.size());
    ++count_;
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        const double deviation = values[i] - mean_[i];
        mean_[i] += deviation / static_cast<double>(count_);
        squares_[i] += deviation * (values[i] - mean_[i]);
    }
}

void TermAverages::add(const TermAverages& other)
{
    PARHELION_EXPECTS(other.terms() == terms());
    if (other.count_ == 0) { return; }
    const auto here = static_cast<double>(count_), there = static_cast<double>(other.count_);
    for (std::size_t i = 0; i < mean_.size(); ++i)
    {
        const double apart = other.mean_[i] - mean_[i];
        mean_[i] += apart * (there / (here + there));
        squares_[i] += other.squares_[i] + apart * apart * (here * there / (here + there));
    }
    count_ += other.count_;
}

bool TermAverages::is_finite() const
{
    const auto finite = [](double x) { return std::isfinite(x); };
    return std::all_of(mean_.begin(), mean_.end(), finite) && std::all_of(squares_.begin(), squares_.end(), finite);
}

double TermAverages::standard_deviation(std::size_t term) const
{
    return count_ > 0 ? std::sqrt(std::max(0.0, squares_[term]) / static_cast<double>(count_)) : 0.0;
}

EdrWriter::EdrWriter(std::string path, const std::vector<std::string>& terms, std::int64_t first_step, double dt,
                     const FileMark& kept)
    : file_(std::move(path), kept), terms_(terms.size()), next_step_(first_step), dt_(dt)
{
    if (kept.bytes > 0) { return; }
    buffer_.put(file_magic);
    buffer_.put(file_version);
    buffer_.put(static_cast<std::int32_t>(terms_));
    for (const std::string& term : terms)
    {
        buffer_.put(std::string_view(term));
        buffer_.put(unit_of_term(term));
    }
    file_.append(buffer_.bytes());
    file_.finish_record();
}

void EdrWriter::write(std::int64_t step, double time, std::span<const double> values, const TermAverages& since_last)
{
    PARHELION_EXPECTS(values.size() == terms_ && step >= next_step_ && since_last.count() >= 1 &&
                      since_last.count() <= std::numeric_limits<std::int32_t>::max());
    const bool sums = since_last.count() > 1; // the sum of one value adds no information

    buffer_.clear();
    buffer_.put(new_style);
    buffer_.put(frame_magic);
    buffer_.put(file_version);
    buffer_.put(time);
    buffer_.put(step);
    buffer_.put(sums ? static_cast<std::int32_t>(since_last.count()) : 0);
    buffer_.put(step - next_step_ + 1); // number of steps that the frame covers
    buffer_.put(dt_);
    buffer_.put(static_cast<std::int32_t>(terms_));
    buffer_.put(std::int32_t{0});                                        // reserved
    buffer_.put(std::int32_t{0});                                        // number of blocks with other data
    buffer_.put(static_cast<std::int32_t>(terms_ * 4 * sizeof(double))); // bytes that readers need in memory for the terms
    buffer_.put(std::int32_t{0});                                        // reserved
    buffer_.put(std::int32_t{0});                                        // reserved
    for (std::size_t i = 0; i < terms_; ++i)
    {
        buffer_.put(values[i]);
        if (sums)
        {
            buffer_.put(since_last.squared_deviations(i));
            buffer_.put(since_last.sum(i));
        }
    }
    file_.append(buffer_.bytes());
    file_.finish_record();
    next_step_ = step + 1;
}

EdrReader::EdrReader(std::span<const std::byte> bytes, std::string name) : file_(bytes, std::move(name))
{
    if (file_.get_int() != file_magic) { file_.damaged("the file does not begin as an energy file does,"); }
    if (const std::int32_t version = file_.get_int(); version < 4 || version > file_version)
    {
        file_.damaged(fmt::format("the energy file is of version {}, and 4 and 5 are known here,", version));
    }
    const std::int32_t terms = file_.get_int();
    if (terms < 0 || static_cast<std::size_t>(terms) > file_.bytes_left() / 8) { file_.damaged("an impossible number of terms"); }
    for (std::int32_t i = 0; i < terms; ++i)
    {
        std::string term = get_text(); // the term's unit follows
        terms_.push_back({std::move(term), get_text()});
    }
}

std::string EdrReader::get_text()
{
    const std::int32_t length = file_.get_int();
    if (length < 0) { file_.damaged("a name of impossible length"); }
    const std::span<const std::byte> text = file_.get_opaque(static_cast<std::size_t>(length));
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

double EdrReader::get_real() { return precision_ == Precision::Double ? file_.get_double() : double{file_.get_float()}; }

void EdrReader::expect_frame_begin()
{
    // The first half of this double is the marker of a float file, the whole double is the marker of a double file.
    const auto half = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(new_style) >> 32);
    const std::int32_t first = file_.get_int();
    precision_ = first == half ? Precision::Double : Precision::Mixed;
    const bool begins = precision_ == Precision::Double
                            ? file_.get_int() == static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(new_style))
                            : std::bit_cast<float>(first) == static_cast<float>(new_style);
    if (!begins || file_.get_int() != frame_magic) { file_.damaged("a frame does not begin as one of an energy file does,"); }
}

std::size_t EdrReader::get_block_sizes(std::int32_t blocks)
{
    // Sizes of elements, by type number: int, float, double, 64-bit int, character.
    constexpr std::array<std::size_t, 5> size_of{4, 4, 8, 8, 4};
    std::size_t bytes = 0;
    for (std::int32_t block = 0; block < blocks; ++block)
    {
        static_cast<void>(file_.get_int()); // number of the block
        const std::int32_t parts = file_.get_int();
        for (std::int32_t part = 0; part < parts; ++part)
        {
            const auto type = static_cast<std::uint32_t>(file_.get_int());
            const std::int32_t count = file_.get_int();
            if (type >= size_of.size() || count < 0) { file_.damaged("a block of data of a type that is not known here,"); }
            bytes += static_cast<std::size_t>(count) * size_of[type];
        }
    }
    return bytes;
}

bool EdrReader::read(EdrFrame& frame)
{
    if (file_.bytes_left() == 0) { return false; }
    expect_frame_begin();
    static_cast<void>(file_.get_int()); // version
    frame.time = file_.get_double();
    frame.step = file_.get_hyper();
    const std::int32_t sums = file_.get_int();
    static_cast<void>(file_.get_hyper());  // number of steps that the frame covers
    static_cast<void>(file_.get_double()); // dt
    const std::int32_t terms = file_.get_int(), reserved = file_.get_int(), blocks = file_.get_int();
    constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max() / 4; // keeps differences of steps within range
    const bool is_possible =
        std::isfinite(frame.time) && frame.step >= -latest && frame.step <= latest && sums >= 0 && blocks >= 0 && reserved == 0;
    // A frame may have blocks and no terms.
    if (!is_possible || (terms != 0 && static_cast<std::size_t>(terms) != terms_.size()))
    {
        file_.damaged("the header of a frame is impossible");
    }
    const std::size_t bytes_of_blocks = get_block_sizes(blocks);
    for (int i = 0; i < 3; ++i) { static_cast<void>(file_.get_int()); }
    frame.values.assign(static_cast<std::size_t>(terms), 0);
    std::vector<double> means(frame.values), squares(frame.values);
    for (std::size_t i = 0; i < frame.values.size(); ++i)
    {
        means[i] = frame.values[i] = get_real();
        if (sums == 0) { continue; }
        squares[i] = get_real();
        means[i] = get_real() / sums;
    }
    static_cast<void>(file_.get_opaque(bytes_of_blocks));
    frame.since_last = TermAverages(std::max(sums, 1), std::move(means), std::move(squares));
    return true;
}

} // namespace parhelion
