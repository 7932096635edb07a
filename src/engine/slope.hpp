// SPDX-License-Identifier: Apache-2.0
// Computes the drift of a time series of any length: the slope of its least-squares line, from running
// sums (Welford's). The slope's standard error comes from means of blocks, because successive samples are
// correlated. The blocks become longer as the series grows, so their means become more nearly independent.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace parhelion {

class Slope
{
public:
    void add(double t, double e)
    {
        all_.add(t, e);
        Means& last = blocks_[full_];
        last.count += 1;
        last.t += (t - last.t) / static_cast<double>(last.count);
        last.e += (e - last.e) / static_cast<double>(last.count);
        if (last.count == length_ && ++full_ == most_blocks) { join_pairs(); }
    }
    // Returns the slope, in units of e per unit of t; NaN with fewer than three points.
    double value() const { return all_.count < 3 ? std::numeric_limits<double>::quiet_NaN() : all_.slope(); }
    // Returns the slope's standard error, from the scatter of equal blocks about a line; NaN with fewer than three blocks.
    double error() const
    {
        Sums sums;
        for (std::size_t b = 0; b < full_; ++b) { sums.add(blocks_[b].t, blocks_[b].e); }
        if (sums.count < 3) { return std::numeric_limits<double>::quiet_NaN(); }
        const double beside_line = std::max(0.0, sums.variance_e - sums.covariance * sums.slope());
        return std::sqrt(beside_line / (static_cast<double>(sums.count - 2) * sums.variance));
    }

private:
    static constexpr std::size_t most_blocks = 32;

    struct Sums
    {
        std::int64_t count = 0;
        double mean_t = 0, mean_e = 0, variance = 0, covariance = 0, variance_e = 0; // last three: sums over the points

        void add(double t, double e)
        {
            const auto n = static_cast<double>(++count);
            const double t_from_mean = t - mean_t, e_from_mean = e - mean_e;
            mean_t += t_from_mean / n, mean_e += e_from_mean / n;
            variance += t_from_mean * (t - mean_t);
            covariance += t_from_mean * (e - mean_e);
            variance_e += e_from_mean * (e - mean_e);
        }
        double slope() const { return covariance / variance; }
    };
    struct Means
    {
        std::int64_t count = 0;
        double t = 0, e = 0;
    };

    void join_pairs()
    {
        for (std::size_t b = 0; b < most_blocks / 2; ++b)
        {
            const Means &a = blocks_[2 * b], &next = blocks_[2 * b + 1];
            blocks_[b] = {2 * length_, 0.5 * (a.t + next.t), 0.5 * (a.e + next.e)};
        }
        std::fill(blocks_.begin() + most_blocks / 2, blocks_.end(), Means{});
        full_ = most_blocks / 2, length_ *= 2;
    }

    Sums all_;
    std::array<Means, most_blocks> blocks_; // full_ blocks are full; the block behind them is being filled
    std::size_t full_ = 0;
    std::int64_t length_ = 1; // number of samples in a full block
};

} // namespace parhelion
