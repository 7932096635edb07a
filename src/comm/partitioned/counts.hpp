// SPDX-License-Identifier: Apache-2.0
// Relates the partitions of source and destination, which may cut one buffer into different numbers of partitions. The source
// has `send` partitions and the destination has `receive` partitions, equal shares of the buffer. `per_signal` neighbouring
// send partitions travel under one signal; the last signal may have fewer.
//
// All results are exact integers. Partitions are shares of the buffer, not bytes: receive partition j is the share from j /
// receive to (j + 1) / receive, even of an empty buffer. Cost: two divisions.
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
    // Returns how many send partitions travel under this signal.
    PARHELION_HD constexpr int members(int signal) const
    {
        const int rest = send - signal * per_signal;
        return rest < per_signal ? rest : per_signal;
    }
    // Returns the signals that must have arrived before this receive partition is complete.
    PARHELION_HD constexpr SignalRange needed_by(int receive_partition) const
    {
        const std::int64_t s = send, r = receive, j = receive_partition;
        const auto first = static_cast<int>(j * s / r), last = static_cast<int>(((j + 1) * s - 1) / r);
        return {signal_of(first), signal_of(last) + 1};
    }
};

} // namespace parhelion
