// SPDX-License-Identifier: Apache-2.0
#include "run/force_trend.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

void ForceTrend::add(std::int64_t step, double largest_force)
{
    constexpr double least_fall = 0.99;
    latest_step_ = step;
    if (falls_.empty() || largest_force < least_fall * falls_.back().lowest) { falls_.push_back({step, largest_force}); }
}

std::optional<double> ForceTrend::steps_left() const
{
    if (falls_.empty()) { return {}; }
    const double lowest = falls_.back().lowest;
    if (lowest <= tolerance_) { return 0; }
    const std::int64_t half = falls_.front().step + (latest_step_ - falls_.front().step) / 2;
    const Fall& since = *(std::ranges::upper_bound(falls_, half, {}, &Fall::step) - 1);
    const double fall = std::log(since.lowest / lowest);
    if (!(fall > 0)) { return {}; }
    return static_cast<double>(latest_step_ - since.step) * std::log(lowest / tolerance_) / fall;
}

} // namespace parhelion
