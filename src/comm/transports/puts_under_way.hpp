// SPDX-License-Identifier: Apache-2.0
// Puts under way, by when they are due: payload first and signal later, in any order but for puts to one slot, which keep theirs.
// Without a thread or a lock: those who deliver have them (comm/transports/delayed_puts.hpp, comm/gpu/proxy.hpp).
//
// Cost: a lookup and up to three tree insertions for each put.
#pragma once

#include "comm/protocol.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

namespace parhelion {

struct PutUnderWay
{
    Put put;
    Word* read; // as of a Descriptor (comm/proxy_ring.hpp)
    std::chrono::steady_clock::time_point signal_due;
    bool is_repeated;
};

class PutsUnderWay
{
public:
    using Clock = std::chrono::steady_clock;

    // Payload and signal are due at these times, or later if an earlier put to this slot is. repeat_after: the signal is due a
    // second time, so much later; zero: it is not.
    void add(const Put& put, Word* read, Clock::time_point payload_due, Clock::time_point signal_due,
             Clock::duration repeat_after = {});

    bool is_empty() const { return by_time_.empty(); }
    // If it is not empty.
    Clock::time_point first_due() const { return by_time_.begin()->first; }
    PutUnderWay take_first() { return by_time_.extract(by_time_.begin()).mapped(); }
    // One that has been taken, and its payload copied: the signal is still to come.
    void keep_signal_of(PutUnderWay taken);
    // Both are about to be set: off the line before the destination sees it, whose reaction may be the next put to this slot.
    void leave_line(const PutUnderWay& taken);

    // Puts that met another one under way to the same slot, which a right protocol never sends.
    std::int64_t overlaps() const { return overlaps_; }

private:
    struct Line // the way to one signal slot
    {
        Clock::time_point last{};
        int under_way = 0;
    };
    Line& line_of(const Put& put) { return lines_[{put.destination, put.signal}]; }

    std::multimap<Clock::time_point, PutUnderWay> by_time_;
    std::map<std::pair<int, std::size_t>, Line> lines_; // by destination and signal
    std::int64_t overlaps_ = 0;
};

} // namespace parhelion
