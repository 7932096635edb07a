// SPDX-License-Identifier: Apache-2.0
#include "io/output/block_averages.hpp"

#include "base/error.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace parhelion {

namespace {
constexpr std::size_t too_many = 32, fewest = 8; // number of blocks at which pairs are merged; least number for an error
} // namespace

BlockAverages::BlockAverages(Data data) : data_(std::move(data)) { PARHELION_EXPECTS(is_possible(data_)); }

bool BlockAverages::is_possible(const Data& data)
{
    constexpr std::int64_t most_values = std::numeric_limits<std::int64_t>::max() / 64;
    const std::size_t terms = data.sums.size(), numbers = data.means.size();
    const bool are_whole = terms == 0 ? numbers == 0 : numbers % terms == 0 && numbers / terms < too_many;
    return are_whole && data.length > 0 && data.length < most_values && data.in_block >= 0 && data.in_block < data.length;
}

void BlockAverages::add(std::span<const double> values)
{
    PARHELION_EXPECTS(values.size() == data_.sums.size());
    for (std::size_t i = 0; i < values.size(); ++i) { data_.sums[i] += values[i]; }
    if (++data_.in_block < data_.length) { return; }
    for (double& sum : data_.sums) { data_.means.push_back(std::exchange(sum, 0.0) / static_cast<double>(data_.length)); }
    data_.in_block = 0;
    if (blocks() == too_many) { join_neighbours(); }
}

void BlockAverages::join_neighbours()
{
    const std::size_t terms = data_.sums.size();
    for (std::size_t block = 0; block < too_many / 2; ++block)
    {
        for (std::size_t i = 0; i < terms; ++i)
        {
            data_.means[block * terms + i] =
                0.5 * (data_.means[2 * block * terms + i] + data_.means[(2 * block + 1) * terms + i]);
        }
    }
    data_.means.resize(too_many / 2 * terms);
    data_.length *= 2;
}

double BlockAverages::error(std::size_t term) const
{
    const std::size_t terms = data_.sums.size(), n = blocks();
    if (n < fewest) { return std::numeric_limits<double>::quiet_NaN(); }
    const auto count = static_cast<double>(n);
    double mean = 0, squares = 0;
    for (std::size_t b = 0; b < n; ++b) { mean += data_.means[b * terms + term] / count; }
    for (std::size_t b = 0; b < n; ++b)
    {
        const double off = data_.means[b * terms + term] - mean;
        squares += off * off;
    }
    return std::sqrt(squares / (count * (count - 1)));
}

} // namespace parhelion
