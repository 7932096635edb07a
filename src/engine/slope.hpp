// SPDX-License-Identifier: Apache-2.0
// The drift of a series, however long: the slope of the least-squares line, from sums that are kept up to date (Welford's).
#pragma once

#include <cstdint>
#include <limits>

namespace parhelion {

class Slope
{
public:
    void add(double t, double e)
    {
        const auto n = static_cast<double>(++count_);
        const double from_mean = t - mean_t_;
        mean_t_ += from_mean / n;
        mean_e_ += (e - mean_e_) / n;
        variance_ += from_mean * (t - mean_t_);
        covariance_ += from_mean * (e - mean_e_);
    }
    // e per t; NaN with fewer than three points.
    double value() const { return count_ < 3 ? std::numeric_limits<double>::quiet_NaN() : covariance_ / variance_; }

private:
    std::int64_t count_ = 0;
    double mean_t_ = 0, mean_e_ = 0, variance_ = 0, covariance_ = 0; // the last two times count_
};

} // namespace parhelion
