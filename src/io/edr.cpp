// SPDX-License-Identifier: Apache-2.0
#include "io/edr.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parhelion {
namespace {
constexpr std::int32_t file_magic = -55555, frame_magic = -7777777, file_version = 5;
constexpr double new_style = -2e10; // stands where the oldest format had a time; also tells float from double files
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
    const bool sums = since_last.count() > 1; // the sum of one value says nothing new

    buffer_.clear();
    buffer_.put(new_style);
    buffer_.put(frame_magic);
    buffer_.put(file_version);
    buffer_.put(time);
    buffer_.put(step);
    buffer_.put(sums ? static_cast<std::int32_t>(since_last.count()) : 0);
    buffer_.put(step - next_step_ + 1); // steps covered
    buffer_.put(dt_);
    buffer_.put(static_cast<std::int32_t>(terms_));
    buffer_.put(std::int32_t{0});                                        // reserved
    buffer_.put(std::int32_t{0});                                        // blocks of other data
    buffer_.put(static_cast<std::int32_t>(terms_ * 4 * sizeof(double))); // what the reader's table of terms takes, by tradition
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

} // namespace parhelion
