// SPDX-License-Identifier: Apache-2.0
// The median and the range of repeated measurements of one quantity. Cost: a sort.
#pragma once

#include "base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace parhelion {

struct Spread
{
    std::size_t median; // index of the median among the values; if their number is even, of the lower middle one
    double min, max;
};

inline Spread spread_of(const std::vector<double>& values)
{
    PARHELION_EXPECTS(!values.empty());
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    return {order[(order.size() - 1) / 2], values[order.front()], values[order.back()]};
}

} // namespace parhelion
