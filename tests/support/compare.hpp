// SPDX-License-Identifier: Apache-2.0
// The distances that tolerances are stated in. A NaN anywhere makes them NaN or infinite, so that no bound holds.
#pragma once

#include "base/vec3.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace parhelion::test {

// sqrt(sum |a - b|^2 / sum |b|^2); b is the reference.
inline double rms_relative(const std::vector<Vec3<double>>& a, const std::vector<Vec3<double>>& b)
{
    if (a.size() != b.size()) { throw std::runtime_error("vectors of different length"); }
    double error = 0, scale = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        error += norm2(a[i] - b[i]);
        scale += norm2(b[i]);
    }
    return std::sqrt(error / scale);
}

// The largest |a - b|, relative to the root mean square of b.
inline double largest_relative(const std::vector<Vec3<double>>& a, const std::vector<Vec3<double>>& b)
{
    if (a.size() != b.size()) { throw std::runtime_error("vectors of different length"); }
    double error2 = 0, scale = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        const double difference2 = norm2(a[i] - b[i]);
        error2 = std::isnan(difference2) ? INFINITY : std::max(error2, difference2);
        scale += norm2(b[i]);
    }
    return std::sqrt(error2 * static_cast<double>(b.size()) / scale);
}

// The largest |a - b| of any element, relative to the largest |b|.
inline double max_relative(const Mat3<double>& a, const Mat3<double>& b)
{
    double error = 0, scale = 0;
    for (int i = 0; i < 3; ++i)
    {
        for (int j = 0; j < 3; ++j)
        {
            const double difference = std::abs(a[i][j] - b[i][j]);
            error = std::isnan(difference) ? INFINITY : std::max(error, difference);
            scale = std::max(scale, std::abs(b[i][j]));
        }
    }
    return error / scale;
}

} // namespace parhelion::test
