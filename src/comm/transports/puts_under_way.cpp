// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/puts_under_way.hpp"

#include <algorithm>

namespace parhelion {

void PutsUnderWay::add(const Put& put, Word* read, Clock::time_point payload_due, Clock::time_point signal_due,
                       Clock::duration repeat_after)
{
    Line& line = line_of(put);
    overlaps_ += line.under_way > 0 ? 1 : 0;
    ++line.under_way;
    const Clock::time_point due = std::max(line.last, payload_due);
    line.last = std::max(due, signal_due);
    by_time_.emplace(due, PutUnderWay{put, read, line.last, false});
    if (repeat_after.count() > 0)
    {
        line.last += repeat_after;
        Put signal = put;
        signal.data = nullptr; // when the signal is due, the sender may have reused the data
        by_time_.emplace(line.last, PutUnderWay{signal, nullptr, line.last, true});
    }
}

void PutsUnderWay::keep_signal_of(PutUnderWay taken)
{
    taken.put.data = nullptr;
    by_time_.emplace(taken.signal_due, taken);
}

void PutsUnderWay::leave_line(const PutUnderWay& taken)
{
    if (!taken.is_repeated) { --line_of(taken.put).under_way; }
}

} // namespace parhelion
