// SPDX-License-Identifier: Apache-2.0
// Puts in flight, ordered by delivery times: a put's payload first, its signal later. Puts to one slot keep their
// order; other puts may overtake. Users have the thread and the lock (comm/transports/delayed_puts.hpp,
// comm/gpu/proxy.hpp).
//
// Cost: a lookup and up to three tree insertions per put.
#pragma once

#include "comm/core/protocol.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

namespace parhelion {

struct PutUnderWay
{
    Put put;
    Word* read; // word that tells that the data was read, as in a Descriptor (comm/core/proxy_ring.hpp)
    std::chrono::steady_clock::time_point signal_due;
    bool is_repeated;
};

class PutsUnderWay
{
public:
    using Clock = std::chrono::steady_clock;

    // Adds a put. Payload and signal are due at these times, or later if an earlier put to the same slot is due later. If
    // repeat_after is not zero, the signal is due a second time, this much later.
    void add(const Put& put, Word* read, Clock::time_point payload_due, Clock::time_point signal_due,
             Clock::duration repeat_after = {});

    bool is_empty() const { return by_time_.empty(); }
    // first_due() returns when the next put is due, and take_first() removes and returns that put. is_empty() must be false.
    Clock::time_point first_due() const { return by_time_.begin()->first; }
    PutUnderWay take_first() { return by_time_.extract(by_time_.begin()).mapped(); }
    // Adds a put again after its payload was copied, so that its signal is set when due.
    void keep_signal_of(PutUnderWay taken);
    // Removes a taken put from the count of puts in flight to its slot. Call it before payload and signal are set: as soon as
    // the destination sees the signal, the next put to this slot may come.
    void leave_line(const PutUnderWay& taken);

    // Returns the number of puts to a slot that had another put in flight. A correct protocol sends no such put.
    std::int64_t overlaps() const { return overlaps_; }

private:
    struct Line // the puts in flight to one signal slot
    {
        Clock::time_point last{};
        int under_way = 0;
    };
    Line& line_of(const Put& put) { return lines_[{put.destination, put.signal}]; }

    std::multimap<Clock::time_point, PutUnderWay> by_time_;
    std::map<std::pair<int, std::size_t>, Line> lines_; // the puts of each slot; the key is (destination, index of the slot)
    std::int64_t overlaps_ = 0;
};

} // namespace parhelion
