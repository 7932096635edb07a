// SPDX-License-Identifier: Apache-2.0
// Which signals a receive partition needs, against an oracle that knows nothing of fractions: sets of bytes.
#include "comm/partitioned/counts.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

using namespace parhelion;

namespace {

// By byte: which signal covers it, where `bytes` are shared among all partitions.
std::vector<int> signals_of_bytes(const PartitionCounts& counts, std::size_t bytes)
{
    const std::size_t share = bytes / static_cast<std::size_t>(counts.send);
    std::vector<int> of_byte(bytes, -1);
    for (int p = 0; p < counts.send; ++p)
    {
        std::fill_n(of_byte.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(p) * share), share,
                    p / counts.per_signal);
    }
    return of_byte;
}

void expect_as_the_oracle(const PartitionCounts& counts)
{
    const std::size_t bytes = static_cast<std::size_t>(std::lcm(counts.send, counts.receive));
    const std::vector<int> of_byte = signals_of_bytes(counts, bytes);
    EXPECT_EQ(counts.signals(), of_byte.back() + 1);
    const std::size_t share = bytes / static_cast<std::size_t>(counts.receive);
    for (int r = 0; r < counts.receive; ++r)
    {
        const auto begin = of_byte.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * share);
        const auto [first, last] = std::minmax_element(begin, begin + static_cast<std::ptrdiff_t>(share));
        const SignalRange needed = counts.needed_by(r);
        ASSERT_EQ(needed.begin, *first) << counts.send << " to " << counts.receive << " by " << counts.per_signal << ": " << r;
        ASSERT_EQ(needed.end, *last + 1) << counts.send << " to " << counts.receive << " by " << counts.per_signal << ": " << r;
    }
    int members = 0;
    for (int s = 0; s < counts.signals(); ++s)
    {
        const auto expected = std::count(of_byte.begin(), of_byte.end(), s) / static_cast<std::ptrdiff_t>(bytes / counts.send);
        ASSERT_EQ(counts.members(s), expected);
        members += counts.members(s);
    }
    EXPECT_EQ(members, counts.send);
}

} // namespace

TEST(PartitionCounts, a_receive_partition_needs_the_signals_of_its_bytes)
{
    for (int send = 1; send <= 16; ++send)
    {
        for (int receive = 1; receive <= 16; ++receive)
        {
            for (int per_signal = 1; per_signal <= send; ++per_signal) { expect_as_the_oracle({send, receive, per_signal}); }
        }
    }
    std::mt19937 random(24);
    for (int trial = 0; trial < 200; ++trial)
    {
        const int send = 1 + static_cast<int>(random() % 300), receive = 1 + static_cast<int>(random() % 300);
        expect_as_the_oracle({send, receive, 1 + static_cast<int>(random() % static_cast<unsigned>(send))});
    }
}

TEST(PartitionCounts, are_right_for_the_largest_numbers)
{
    constexpr int most = 2147483647;
    const PartitionCounts counts{most, most, 1};
    EXPECT_EQ(counts.signals(), most);
    EXPECT_EQ(counts.needed_by(most - 1).begin, most - 1);
    EXPECT_EQ(counts.needed_by(most - 1).end, most);
    const PartitionCounts one{most, 1, most};
    EXPECT_EQ(one.signals(), 1);
    EXPECT_EQ(one.needed_by(0).end, 1);
    EXPECT_EQ(one.members(0), most);
}
