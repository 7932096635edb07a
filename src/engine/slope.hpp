// SPDX-License-Identifier: Apache-2.0
// The drift of a series, however long: the slope of the least-squares line, from sums that are kept up to date (Welford's).
#pragma once

#include <algorithm>
#include <cmath>
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
        const double e_from_mean = e - mean_e_;
        mean_t_ += from_mean / n;
        mean_e_ += e_from_mean / n;
        variance_ += from_mean * (t - mean_t_);
        covariance_ += from_mean * (e - mean_e_);
        variance_e_ += e_from_mean * (e - mean_e_);
    }
    // e per t; NaN with fewer than three points.
    double value() const { return count_ < 3 ? std::numeric_limits<double>::quiet_NaN() : covariance_ / variance_; }
    // Its standard error, if points scatter about the line independently of each other.
    double error() const
    {
        const double beside_line = std::max(0.0, variance_e_ - covariance_ * value());
        return std::sqrt(beside_line / (static_cast<double>(count_ - 2) * variance_));
    }

private:
    std::int64_t count_ = 0;
    double mean_t_ = 0, mean_e_ = 0, variance_ = 0, covariance_ = 0, variance_e_ = 0; // the last three times count_
};

} // namespace parhelion
