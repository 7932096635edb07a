// SPDX-License-Identifier: Apache-2.0
// The drift of a series.
#pragma once

#include <limits>
#include <utility>
#include <vector>

namespace parhelion {

// Slope of the least-squares line through (time in ps, kJ/mol), NaN with fewer than three points.
inline double slope(const std::vector<std::pair<double, double>>& points)
{
    if (points.size() < 3) { return std::numeric_limits<double>::quiet_NaN(); }
    const auto n = static_cast<double>(points.size());
    double mean_t = 0, mean_e = 0;
    for (const auto& [t, e] : points) { mean_t += t / n, mean_e += e / n; }
    double covariance = 0, variance = 0;
    for (const auto& [t, e] : points) { covariance += (t - mean_t) * (e - mean_e), variance += (t - mean_t) * (t - mean_t); }
    return covariance / variance;
}

} // namespace parhelion
