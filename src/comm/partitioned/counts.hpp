// SPDX-License-Identifier: Apache-2.0
// Partitions of two sides that count differently. A buffer has `send` partitions where it comes from and `receive` partitions
// where it goes, both equal shares of its bytes. `per_signal` neighbouring send partitions, the last time maybe fewer, travel
// under one signal.
//
// All in integers and in shares of the buffer, not in bytes: receive partition j is the part from j / receive to
// (j + 1) / receive of it, also of a buffer without bytes. Cost: two divisions.
#pragma once

#include "base/vec3.hpp"

#include <cstdint>

namespace parhelion {

struct SignalRange
{
    int begin, end;
};

struct PartitionCounts
{
    int send, receive, per_signal; // all >= 1

    PARHELION_HD constexpr int signals() const { return (send - 1) / per_signal + 1; }
    PARHELION_HD constexpr int signal_of(int send_partition) const { return send_partition / per_signal; }
    // How many send partitions share a signal.
    PARHELION_HD constexpr int members(int signal) const
    {
        const int rest = send - signal * per_signal;
        return rest < per_signal ? rest : per_signal;
    }
    // The signals without which a receive partition is not whole.
    PARHELION_HD constexpr SignalRange needed_by(int receive_partition) const
    {
        const std::int64_t s = send, r = receive, j = receive_partition;
        const auto first = static_cast<int>(j * s / r), last = static_cast<int>(((j + 1) * s - 1) / r);
        return {signal_of(first), signal_of(last) + 1};
    }
};

} // namespace parhelion
